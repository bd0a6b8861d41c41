import CairnModel
import CairnStore
import Foundation

/// An object whose row was changed or deleted by somebody else since it was read.
///
/// Source: `NSMergeConflict`.
open class MergeConflict: NSObject {
  /// The object that was to be saved.
  public let sourceObject: ManagedObject
  /// The values the object's changes are based on.
  public let objectSnapshot: [String: Any]?
  /// The newer values in the coordinator's row cache.
  public let cachedSnapshot: [String: Any]?
  /// The newer values in the store.
  public let persistedSnapshot: [String: Any]?
  /// The version of the newer row, 0 when the row was deleted.
  public let newVersionNumber: Int
  public let oldVersionNumber: Int
  /// The newer row itself.
  let stored: RowSnapshot?

  public init(
    source srcObject: ManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectSnapshot = srcObject.snapshot.map { SnapshotValues.dictionary(of: $0) }
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    stored = nil
  }

  init(source: ManagedObject, stored: RowSnapshot?, oldVersion: Int64) {
    sourceObject = source
    objectSnapshot = source.snapshot.map { SnapshotValues.dictionary(of: $0) }
    let values = stored.map { SnapshotValues.dictionary(of: $0) }
    cachedSnapshot = values
    persistedSnapshot = values
    newVersionNumber = stored.map { Int(max($0.version, 1)) } ?? 0
    oldVersionNumber = Int(oldVersion)
    self.stored = stored
  }

  open override var description: String {
    "<MergeConflict for \(sourceObject.objectID): old version \(oldVersionNumber), new version "
      + "\(newVersionNumber)>"
  }
}

/// Objects that share the values of a uniqueness constraint.
///
/// Source: `NSConstraintConflict`.
open class ConstraintConflict: NSObject {
  /// The names of the constraint's attributes.
  public let constraint: [String]
  /// The values they share.
  public let constraintValues: [String: Any]
  /// The object that is stored with these values; nil when only unsaved objects collide.
  public let databaseObject: ManagedObject?
  public let databaseSnapshot: [AnyHashable: Any]?
  /// The objects that were to be saved.
  public let conflictingObjects: [ManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]

  public init(
    constraint contraint: [String], database databaseObject: ManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [ManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
    var values: [String: Any] = [:]
    for name in contraint { values[name] = conflictingObjects.first?.value(forKey: name) }
    constraintValues = values
  }

  open override var description: String {
    "<ConstraintConflict for \(constraint) with \(constraintValues) between "
      + "\(conflictingObjects.map(\.objectID)) and "
      + "\(databaseObject.map { "\($0.objectID)" } ?? "each other")>"
  }
}

/// Rows as programmers see them: attributes and to-one relationships by name.
enum SnapshotValues {
  static func dictionary(of row: RowSnapshot) -> [String: Any] {
    guard let layout = row.objectID.entity.layout else { return [:] }
    var result: [String: Any] = [:]
    for slot in layout.persistentSlots where slot < row.count {
      result[layout.slots[slot].name] =
        AttributeCoding.decode(row[slot], for: layout.slots[slot].attribute) ?? NSNull()
    }
    return result
  }
}
