// The store behind the pages.

import Cairn
import CairnControl
import CairnDiagrams
import CairnRecords
import Foundation

/// Why a page cannot be shown.
enum PageError: Error, Sendable {
  /// There is no such page, entity or record: what is missing.
  case missing(String)
  /// The store could not be read.
  case unreadable(String)
}

/// A store and its model as the pages need them.
///
/// Each page is read through a context of its own.
struct BrowsedStore: Sendable {
  let store: ReadOnlyStore
  let model: ModelSummary
  let diagram: EntityDiagram
  let addresses: PageAddress

  /// - Parameter base: What stands before the paths of its pages.
  init(_ store: ReadOnlyStore, base: String = "") {
    self.store = store
    addresses = PageAddress(base: base)
    let model = store.coordinator.managedObjectModel
    self.model = ModelSummary(model, name: store.url.lastPathComponent)
    diagram = EntityDiagram(self.model)
  }

  var name: String { store.url.lastPathComponent }

  func entity(named name: String) throws -> EntityDescription {
    guard let entity = store.coordinator.managedObjectModel.entitiesByName[name] else {
      throw PageError.missing("The model has no entity “\(name)”.")
    }
    return entity
  }

  /// Runs the block on the queue of a new context.
  func read<T: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let context = store.context()
    do {
      return try await context.perform {
        let result = try body(context)
        // Reading a value cannot throw: what could not be read is not without a value.
        if let error = context.faultError { throw error }
        return result
      }
    } catch let error as CoreDataError {
      throw PageError.unreadable(error.message)
    }
  }

  /// The object of an address.
  func object(
    entity name: String, key: String, in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let entity = try entity(named: name)
    let missing = PageError.missing("There is no \(name) “\(key)” in the store (any more).")
    guard let store = context.persistentStoreCoordinator?.persistentStores.first,
      let identifier = store.identifier, let path = Self.component(name),
      let key = Self.component(key),
      let uri = URL(string: "x-coredata://\(identifier)/\(path)/\(key)"),
      let id = self.store.coordinator.managedObjectID(forURIRepresentation: uri),
      id.entity.isKindOf(entity: entity)
    else { throw missing }
    do {
      return try context.existingObject(with: id)
    } catch let error as CoreDataError where error.code == .managedObjectReferentialIntegrity {
      throw missing
    }
  }

  private static func component(_ text: String) -> String? {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
  }
}
