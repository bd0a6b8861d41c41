// Types of a program that are called as types of Cairn are.

public enum CoreDataError: Error, Equatable {
  case noModel
}

public protocol ManagedObject {
  static var table: String { get }
}

public final class FetchedResultsController {
  public init() {}
  public var sections: [String] { ["own"] }
}

public struct PersistentContainer: Sendable {
  public init(label: String) { self.label = label }
  public let label: String
}

public struct FetchRequest<Value> {
  public init(_ value: Value) { self.value = value }
  public let value: Value
}
