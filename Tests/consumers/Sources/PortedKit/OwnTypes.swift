// Types of a program that are called as types of Cairn are; `import CoreData` does not bring those.

import CoreData
import Foundation

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

// Members that this library adds to Core Data's types, under names that Cairn has for its own users or for
// generated code. Programs that use the library see only these.
extension NSManagedObjectContext {
  public func explain(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> String { "own" }
}

extension NSManagedObject {
  public func storedString(at position: Int) -> String? { "own \(position)" }
  public func members(ofToMany position: Int) -> [NSManagedObject] { [] }
}

extension NSMigrationManager {
  public var progressHandler: String { "own" }
}

extension NSPersistentStoreDescription {
  public var migrationSourceModels: [String] { ["own"] }
}

extension NSManagedObjectModel {
  public var templatesByName: [String] { ["own"] }
  public var isFrozen: String { "own" }
}

extension Bundle {
  /// Looks a compiled model up, as the program does as well.
  public var portedModel: URL? { url(forResource: "Ported", withExtension: "momd") }
}
