import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// What a fetch can return: objects, object IDs, dictionaries and numbers.
///
/// Source: `NSFetchRequestResult`. A marker, since `any FetchRequestResult` must itself be a type that
/// a request can be for, and of Swift's own protocols only markers conform to themselves. A value can
/// therefore not be cast to it; all of them are instances of `NSObject`.
@_marker public protocol FetchRequestResult: AnyObject {}

extension ManagedObject: FetchRequestResult {}
extension ManagedObjectID: FetchRequestResult {}
extension NSDictionary: FetchRequestResult {}
extension NSNumber: FetchRequestResult {}

/// The form of a fetch's results, with Core Data's raw values.
public struct FetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let managedObjectResultType: FetchRequestResultType = []
  public static let managedObjectIDResultType = FetchRequestResultType(rawValue: 1)
  public static let dictionaryResultType = FetchRequestResultType(rawValue: 2)
  public static let countResultType = FetchRequestResultType(rawValue: 4)
}

/// The properties of a fetch request, whatever it returns.
open class AnyFetchRequest: PersistentStoreRequest {
  fileprivate var entityOrName: Either = .nothing
  fileprivate enum Either {
    case nothing
    case name(String)
    case archivedName(String)
    case entity(EntityDescription)
  }

  /// The entity to fetch.
  ///
  /// With a request made from a name, reading it before the request was used traps, as in Core
  /// Data. With one from an archive it is nil until then.
  open var entity: EntityDescription? {
    get {
      switch entityOrName {
      case .nothing, .archivedName: return nil
      case .entity(let entity): return entity
      case .name(let name):
        // Made by init(entityName:) alone, so that only the order of the program's own calls
        // decides, and no archive; Core Data raises here.
        fatalError(
          "This fetch request (for entity \(name)) was created with a string name and cannot "
            + "respond to -entity until used by a context.")
      }
    }
    set { entityOrName = newValue.map { .entity($0) } ?? .nothing }
  }

  open override var description: String {
    let kind: String
    switch resultType {
    case .managedObjectIDResultType: kind = "NSManagedObjectIDResultType"
    case .dictionaryResultType: kind = "NSDictionaryResultType"
    case .countResultType: kind = "NSCountResultType"
    default: kind = "NSManagedObjectResultType"
    }
    let order = sortDescriptors.map { $0.map(\.description).joined(separator: ", ") } ?? "(null)"
    let address = String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)
    return "<NSFetchRequest: 0x\(address)> (entity: \(entityName ?? "(null)"); "
      + "predicate: (\(predicate?.predicateFormat ?? "(null)")); sortDescriptors: (\(order)); "
      + "type: \(kind); )"
  }

  /// The name of the entity to fetch.
  open var entityName: String? {
    switch entityOrName {
    case .nothing: return nil
    case .name(let name), .archivedName(let name): return name
    case .entity(let entity): return entity.name
    }
  }

  func setArchivedEntityName(_ name: String) { entityOrName = .archivedName(name) }

  /// The entity in a model.
  ///
  /// - Throws: 134060 when the request names none or one the model lacks.
  func entity(in model: ManagedObjectModel) throws -> EntityDescription {
    switch entityOrName {
    case .nothing:
      throw CoreDataError(
        .coreData, "A fetch request must have an entity; give it one or an entity name.")
    case .name(let name), .archivedName(let name):
      guard let entity = model.entitiesByName[name] else {
        throw CoreDataError(
          .coreData,
          "The model has no entity named \"\(name)\"; it has "
            + model.entities.compactMap(\.name).sorted().joined(separator: ", ") + ".")
      }
      entityOrName = .entity(entity)
      return entity
    case .entity(let entity):
      // A description of another copy of the model stands for the entity of that name here.
      if entity.managedObjectModel === model { return entity }
      guard let name = entity.name, let own = model.entitiesByName[name] else {
        throw CoreDataError(
          .coreData, "The model has no entity named \"\(entity.name ?? "")\".")
      }
      return own
    }
  }

  /// Which objects; nil for all.
  open var predicate: ObjectPredicate?
  /// The order; none means no order in particular.
  open var sortDescriptors: [ObjectSortDescriptor]?
  /// The largest number of results, 0 for no limit.
  open var fetchLimit = 0
  /// How many results to leave out at the beginning.
  open var fetchOffset = 0
  /// Only the results behind this row; see `StoreFetchRequest.place`.
  package var place: StoreFetchRequest.Place?
  /// How many rows are read at a time, 0 for all at once.
  ///
  /// With a batch size the fetch reads object IDs only. The results are faults; the first use of
  /// one of them reads its batch, so many rows at the same places of the result, with one query,
  /// and the prefetched relationships of the batch with one more each. Results that the program does not use
  /// cost an object without values and no row. Since a Swift array holds its elements, the objects
  /// themselves are made at once, where Core Data's array makes them when they are touched; what
  /// is read, and when, is the same.
  ///
  /// It has no effect on other results than objects, nor when it is not smaller than the limit.
  open var fetchBatchSize = 0
  open var resultType: FetchRequestResultType = .managedObjectResultType
  open var includesSubentities = true
  /// Whether rows are read, not only IDs.
  ///
  /// For object IDs as results it means that the rows are in the coordinator's cache afterwards.
  open var includesPropertyValues = true
  /// Whether unsaved changes show in the result.
  ///
  /// No effect on dictionaries, aggregates included: they show what the stores have.
  open var includesPendingChanges = true
  /// Whether objects not in the context yet stay faults (with their row at hand).
  open var returnsObjectsAsFaults = true
  /// Whether equal dictionaries appear once.
  open var returnsDistinctResults = false
  /// Key paths of relationships whose objects are read along.
  open var relationshipKeyPathsForPrefetching: [String]?
  /// Whether objects in the context take the values just read; what was changed in them and not
  /// saved stays, as with `refresh(_:mergeChanges: true)`.
  open var shouldRefreshRefetchedObjects = false
  /// The columns of dictionaries: names, key paths through to-one relationships, or descriptions
  /// of attributes, to-one relationships and expressions; nil for all attributes.
  ///
  /// For objects, the attributes that will be used: they must be the entity's, and the whole row
  /// is read. A row is one immutable value that objects and the row cache share, and that a save
  /// compares as a whole; one with holes would have to be asked for its holes everywhere. To leave
  /// large values unread, fetch dictionaries, or keep such values in objects of their own.
  open var propertiesToFetch: [Any]?
  /// The columns by which dictionaries are grouped.
  open var propertiesToGroupBy: [Any]?
  /// A condition on groups.
  open var havingPredicate: ObjectPredicate?

  open override var requestType: PersistentStoreRequestType { .fetchRequestType }

  /// The results as `execute(_:)` of a context returns them; a request without a type of its own
  /// has results of any kind.
  func result(in context: ManagedObjectContext) throws -> PersistentStoreAsynchronousResult {
    try withAnyResult().result(in: context)
  }

  func copyValues(from other: AnyFetchRequest) {
    affectedStores = other.affectedStores
    entityOrName = other.entityOrName
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    place = other.place
    fetchBatchSize = other.fetchBatchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPropertyValues = other.includesPropertyValues
    includesPendingChanges = other.includesPendingChanges
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    returnsDistinctResults = other.returnsDistinctResults
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
  }

  /// A request with the same values for results of any kind.
  func withAnyResult() -> FetchRequest<any FetchRequestResult> {
    let copy = FetchRequest<any FetchRequestResult>()
    copy.copyValues(from: self)
    return copy
  }
}

/// A description of what to fetch.
///
/// Source: `NSFetchRequest`.
///
/// `ResultType` is a class of managed objects, `ManagedObjectID`, `NSDictionary`, `NSNumber`, or
/// `any FetchRequestResult`. A request belongs to its maker: change it on one thread at a
/// time. It can be copied and archived; predicates are archived as their format.
open class FetchRequest<ResultType: FetchRequestResult>: AnyFetchRequest, NSCoding {
  public override init() { super.init() }

  public convenience init(entityName: String) {
    self.init()
    entityOrName = .name(entityName)
  }

  /// The request that a model keeps as a template.
  package convenience init(template: FetchRequestTemplate) {
    self.init(entityName: template.entityName)
    predicate = template.predicate
    sortDescriptors = template.sortDescriptors.isEmpty ? nil : template.sortDescriptors
    resultType = FetchRequestResultType(rawValue: template.resultType)
    fetchLimit = template.fetchLimit
    fetchOffset = template.fetchOffset
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPendingChanges = template.includesPendingChanges
    includesPropertyValues = template.includesPropertyValues
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    relationshipKeyPathsForPrefetching = template.objects.relationshipKeyPathsForPrefetching
    shouldRefreshRefetchedObjects = template.objects.shouldRefreshRefetchedObjects
    propertiesToFetch = template.dictionaries.propertiesToFetch?.map(\.property)
    propertiesToGroupBy = template.dictionaries.propertiesToGroupBy?.map(\.property)
    havingPredicate = template.dictionaries.havingPredicate
    returnsDistinctResults = template.returnsDistinctResults
  }

  /// Nil when the archive holds no fetch request, or one whose predicate is none.
  public required init?(coder: NSCoder) {
    super.init()
    guard FetchRequestArchiving.decode(self, from: coder) else { return nil }
  }

  open func encode(with coder: NSCoder) { FetchRequestArchiving.encode(self, with: coder) }

  /// A generic class has no name that an archive could keep.
  open override var classForKeyedArchiver: AnyClass? { ArchivedFetchRequestName.self }

  /// Runs the request in the context whose block is running.
  ///
  /// - Throws: 134060 outside of a block given to a context's `perform` or `performAndWait`, and
  ///   what ``ManagedObjectContext/fetch(_:)`` throws.
  open func execute() throws -> [ResultType] {
    try CoreDataError.bridging { try CurrentContext.required().fetch(self) }
  }

  /// Under the request's own type when its results are of that type; otherwise, as for the count of
  /// a request for objects, under the general one.
  override func result(
    in context: ManagedObjectContext
  ) throws -> PersistentStoreAsynchronousResult {
    if hasResultsOfItsType {
      return AsynchronousFetchResult(try context.fetch(self), of: self, in: context)
    }
    let general = withAnyResult()
    let found: [any FetchRequestResult] = try context.fetch(general)
    return AsynchronousFetchResult(found, of: general, in: context)
  }

  private var hasResultsOfItsType: Bool {
    if ResultType.self == (any FetchRequestResult).self { return true }
    switch resultType {
    case .managedObjectIDResultType: return ResultType.self == ManagedObjectID.self
    case .dictionaryResultType: return ResultType.self == NSDictionary.self
    case .countResultType: return ResultType.self == NSNumber.self
    default: return ResultType.self is ManagedObject.Type
    }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = FetchRequest<ResultType>()
    copy.copyValues(from: self)
    return copy
  }
}
