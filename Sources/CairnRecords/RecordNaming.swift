// How records are called on the wire.

import Cairn
import Foundation

/// Gives objects the names under which the control protocol knows them, and finds them again.
///
/// The daemon names objects by their record IDs, which are the same in every store; a program that
/// reads a single file names them by their object URIs.
public protocol RecordNaming: Sendable {
  /// The names of the objects, in their order.
  func names(of objects: [ManagedObjectID]) throws -> [String]
  /// The object of a name, nil when there is none.
  func object(named name: String, entity: EntityDescription) throws -> ManagedObjectID?
}

extension RecordNaming {
  /// The record of that name, nil when there is none.
  ///
  /// - Throws: what reading it threw: a file that cannot be read is not one without the record.
  func record(
    named name: String, entity: EntityDescription, in context: ManagedObjectContext
  ) throws -> ManagedObject? {
    guard let id = try object(named: name, entity: entity), id.entity.isKindOf(entity: entity)
    else { return nil }
    do {
      return try context.existingObject(with: id)
    } catch let error as CoreDataError where error.code == .managedObjectReferentialIntegrity {
      return nil
    }
  }
}

/// Names objects by their URIs.
public struct URINaming: RecordNaming {
  private let coordinator: PersistentStoreCoordinator

  public init(coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
  }

  public func names(of objects: [ManagedObjectID]) throws -> [String] {
    objects.map { $0.uriRepresentation().absoluteString }
  }

  public func object(named name: String, entity: EntityDescription) throws -> ManagedObjectID? {
    guard let url = URL(string: name) else { return nil }
    return coordinator.managedObjectID(forURIRepresentation: url)
  }
}
