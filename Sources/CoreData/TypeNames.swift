// Apple's type names.
import CairnStack

// Model.
public typealias NSManagedObjectModel = ManagedObjectModel
public typealias NSEntityDescription = EntityDescription
public typealias NSPropertyDescription = PropertyDescription
public typealias NSAttributeDescription = AttributeDescription
public typealias NSDerivedAttributeDescription = DerivedAttributeDescription
public typealias NSCompositeAttributeDescription = CompositeAttributeDescription
public typealias NSRelationshipDescription = RelationshipDescription
public typealias NSFetchedPropertyDescription = FetchedPropertyDescription
public typealias NSExpressionDescription = ExpressionDescription
public typealias NSFetchIndexDescription = FetchIndexDescription
public typealias NSFetchIndexElementDescription = FetchIndexElementDescription
public typealias NSFetchIndexElementType = FetchIndexElementType
public typealias NSAttributeType = AttributeType
public typealias NSDeleteRule = DeleteRule

// Predicates. A file that imports Foundation as well needs the aliases of the build plugin.
public typealias NSPredicate = ObjectPredicate
public typealias NSComparisonPredicate = ComparisonPredicate
public typealias NSCompoundPredicate = CompoundPredicate
public typealias NSExpression = ObjectExpression
public typealias NSSortDescriptor = ObjectSortDescriptor

// Objects and contexts.
public typealias NSManagedObject = ManagedObject
public typealias NSManagedObjectID = ManagedObjectID
public typealias NSManagedObjectContext = ManagedObjectContext
public typealias NSManagedObjectContextConcurrencyType = ManagedObjectContextConcurrencyType
public typealias NSSnapshotEventType = SnapshotEventType
public typealias NSKeyValueSetMutationKind = KeyValueSetMutationKind
public typealias NSMergePolicy = MergePolicy
public typealias NSMergePolicyType = MergePolicyType
public typealias NSMergeConflict = MergeConflict
public typealias NSConstraintConflict = ConstraintConflict

// Requests and results.
public typealias NSPersistentStoreRequest = PersistentStoreRequest
public typealias NSPersistentStoreRequestType = PersistentStoreRequestType
public typealias NSPersistentStoreResult = PersistentStoreResult
public typealias NSFetchRequest = FetchRequest
public typealias NSFetchRequestResult = FetchRequestResult
public typealias NSFetchRequestResultType = FetchRequestResultType
public typealias NSBatchInsertRequest = BatchInsertRequest
public typealias NSBatchInsertRequestResultType = BatchInsertRequestResultType
public typealias NSBatchInsertResult = BatchInsertResult
public typealias NSBatchUpdateRequest = BatchUpdateRequest
public typealias NSBatchUpdateRequestResultType = BatchUpdateRequestResultType
public typealias NSBatchUpdateResult = BatchUpdateResult
public typealias NSBatchDeleteRequest = BatchDeleteRequest
public typealias NSBatchDeleteRequestResultType = BatchDeleteRequestResultType
public typealias NSBatchDeleteResult = BatchDeleteResult

// History.
public typealias NSPersistentHistoryChange = PersistentHistoryChange
public typealias NSPersistentHistoryChangeType = PersistentHistoryChangeType
public typealias NSPersistentHistoryChangeRequest = PersistentHistoryChangeRequest
public typealias NSPersistentHistoryResult = PersistentHistoryResult
public typealias NSPersistentHistoryResultType = PersistentHistoryResultType
public typealias NSPersistentHistoryToken = PersistentHistoryToken
public typealias NSPersistentHistoryTransaction = PersistentHistoryTransaction

// Stores.
public typealias NSPersistentStore = PersistentStore
public typealias NSPersistentStoreCoordinator = PersistentStoreCoordinator
public typealias NSPersistentStoreDescription = PersistentStoreDescription
public typealias NSPersistentContainer = PersistentContainer
