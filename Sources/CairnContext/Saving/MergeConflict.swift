import CairnModel
import CairnStore
import Foundation

/// An object whose row another writer has changed or deleted since it was read.
///
/// There are two kinds. When a context of the same coordinator saved the row,
/// ``cachedSnapshot`` has the newer values and ``persistedSnapshot`` is nil. When the store has a
/// row that the coordinator did not know, ``cachedSnapshot`` has what it believed,
/// ``persistedSnapshot`` the newer values, and ``objectSnapshot`` is nil. For a deleted row the
/// newer values are nil and ``newVersionNumber`` is 0. Source: `NSMergeConflict`.
open class MergeConflict: NSObject {
  /// The object that was to be saved.
  public let sourceObject: ManagedObject
  /// The values the object's changes are based on, by name.
  public let objectSnapshot: [String: Any]?
  /// The values in the coordinator's row cache, or in the parent context.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store.
  public let persistedSnapshot: [String: Any]?
  /// The version of the newer row, 0 when the row was deleted.
  public let newVersionNumber: Int
  public let oldVersionNumber: Int
  /// The newer row itself; nil when it was deleted.
  let row: RowSnapshot?

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
    // A conflict that the program describes is about the row as it is now.
    let source = newvers == 0 ? nil : srcObject.registry?.context?.reading.source
    row = (try? source?.rows(for: [srcObject.objectID], maximumAge: 0))?.first ?? nil
  }

  init(
    source: ManagedObject, oldVersion: Int64, cached: RowSnapshot?, stored: RowSnapshot?,
    row: RowSnapshot?
  ) {
    let isKnownToCoordinator = stored == nil && (row == nil) == (cached == nil)
    sourceObject = source
    objectSnapshot =
      isKnownToCoordinator ? source.snapshot.map { SnapshotValues.dictionary(of: $0) } : nil
    cachedSnapshot = cached.map { SnapshotValues.dictionary(of: $0) }
    persistedSnapshot = stored.map { SnapshotValues.dictionary(of: $0) }
    newVersionNumber = row.map { Int(max($0.version, 1)) } ?? 0
    oldVersionNumber = Int(oldVersion)
    self.row = row
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
  public let databaseSnapshot: [String: Any]?
  /// The objects that were to be saved.
  public let conflictingObjects: [ManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]

  /// A conflict about nothing.
  public override convenience init() {
    self.init(
      constraint: [], database: nil, databaseSnapshot: nil, conflicting: [],
      conflictingSnapshots: [])
  }

  public init(
    constraint contraint: [String], database databaseObject: ManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [ManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot.map { snapshot in
      Dictionary(
        snapshot.map { ("\($0.key)", $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
    var values: [String: Any] = [:]
    if let object = conflictingObjects.first {
      for name in contraint { values[name] = KeyAccess(object: object).modelValue(forKey: name) }
    }
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
