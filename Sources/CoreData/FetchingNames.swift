// Apple's names of what fetches, in the background or in the whole store at once.
import CairnStack

public typealias NSAsynchronousFetchRequest = AsynchronousFetchRequest
public typealias NSAsynchronousFetchResult = AsynchronousFetchResult
public typealias NSPersistentStoreAsynchronousResult = PersistentStoreAsynchronousResult
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
  PersistentStoreAsynchronousFetchResultCompletionBlock
public typealias NSFetchRequestExpression = FetchRequestExpression

/// The kind of a fetch request expression.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }
