import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Where a context reads rows: its coordinator, or its parent context.
protocol RowSource: AnyObject {
  /// Committed rows (for a child: the parent's objects as they are now), in the order of the IDs.
  func rows(for ids: [ManagedObjectID], maximumAge: TimeInterval?) throws -> [RowSnapshot?]
  /// The same for one object; a row that is found is retained.
  func retainedRow(for id: ManagedObjectID, maximumAge: TimeInterval?) throws -> RowSnapshot?
  /// Members of a to-many relationship of each owner.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]]
  /// The same, with the rows of the first `rowLimit` members where they can be read along.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?, rowLimit: Int
  ) throws -> [[MemberRow]]
  /// The members of a to-many relationship of any of the owners, to be deleted, with the rows that
  /// are at hand (none, or one for each member); nil when they have to be read as rows.
  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?
  ) throws -> (members: [MemberVersion], cached: [RowSnapshot?])?
  /// Runs a fetch; the receiver's unsaved changes are not in it.
  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult
  /// The same, handed over in portions where that is possible: `take`, which must not read, tells
  /// of each row whether it is retained.
  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool,
    _ take: (StoreFetchResult) -> [Bool]
  ) throws
  func retainRows(_ ids: [ManagedObjectID])
  func releaseRows(_ ids: [ManagedObjectID])
  /// The ID an object had before it was saved further up, where that is remembered for children.
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID?
  /// The ID an object got when it was saved further up.
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID?
  /// The coordinator that is read from; nil for a parent.
  var coordinator: PersistentStoreCoordinator? { get }
  /// The parent that is read from; nil for a coordinator.
  var parent: ManagedObjectContext? { get }
  /// Which state of the stores is read; nil where that is not decided here.
  var pin: GenerationPin? { get }
  /// Whether an ID is spelled as the source does, so that it need not be translated.
  ///
  /// The context asks on its queue.
  func spells(_ id: ManagedObjectID) -> Bool
}

extension RowSource {
  var coordinator: PersistentStoreCoordinator? { nil }
  var parent: ManagedObjectContext? { nil }
  var pin: GenerationPin? { nil }
  func spells(_ id: ManagedObjectID) -> Bool { false }

  /// All at once, for sources that have it so.
  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool,
    _ take: (StoreFetchResult) -> [Bool]
  ) throws {
    let result = try fetch(request, in: stores, includingPending: includingPending)
    let held = result.rowIDs(marked: take(result))
    if !held.isEmpty { retainRows(held) }
  }

  /// Nil, for sources that deal in whole rows.
  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?
  ) throws -> (members: [MemberVersion], cached: [RowSnapshot?])? { nil }

  /// The members alone, for sources whose rows cost nothing less when they are read along.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?, rowLimit: Int
  ) throws -> [[MemberRow]] {
    try members(of: relationship, owners: owners).map { members in
      members.map { MemberRow(objectID: $0, row: nil) }
    }
  }
}

extension ManagedObjectContext {
  /// The model of the coordinator, or a trap.
  final var requiredModel: ManagedObjectModel {
    guard let coordinator = persistentStoreCoordinator else {
      // The program uses a context that it never attached; data has no part in it.
      fatalError("The context has no persistent store coordinator; set one, or a parent, first.")
    }
    return coordinator.managedObjectModel
  }

  /// How old a cached row may be: nil for any age.
  final var maximumRowAge: Double? { stalenessInterval < 0 ? nil : stalenessInterval }

  /// Lets the row cache drop rows whose objects were freed, once there are some.
  final func releaseAbandonedRows(atLeast count: Int = 512) {
    let rows = registry.takeAbandonedRows(atLeast: count)
    if !rows.isEmpty { reading.source?.releaseRows(rows) }
  }
}
