// Types of a program that are called as types of Cairn are; `import CoreData` does not bring those.

public enum CoreDataError: Error {
  case own
}

public protocol ManagedObject {
  static var table: String { get }
}

public final class FetchedResultsController {
  public init() {}
  public let sections = ["own"]
}
