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
}

extension RowSource {
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

/// Rows from the coordinator's row cache and its stores.
final class CoordinatorRows: RowSource {
  let coordinator: PersistentStoreCoordinator
  /// Whose rows these are, for stores that want to know.
  private let reader: ContextReference
  private let confinement: ContextConfinement
  let pin = GenerationPin()
  /// The last home that ``spells(_:)`` was asked about and found to be the coordinator's, and the
  /// ``PersistentStoreCoordinator/storeGeneration`` at that time.
  private var spelled: (home: ObjectIdentifier, example: ManagedObjectID, generation: Int)?

  init(coordinator: PersistentStoreCoordinator, context: ManagedObjectContext) {
    self.coordinator = coordinator
    reader = context.reference
    confinement = context.confinement
  }

  /// Whether an ID is spelled as the coordinator does; asked by the context on its queue.
  func spells(_ id: ManagedObjectID) -> Bool {
    let generation = coordinator.storeGeneration
    if let spelled, spelled.home == id.homeIdentity, spelled.generation == generation {
      return true
    }
    guard coordinator.spells(id) else { return false }
    // The example keeps the home alive, whose identity could be another's otherwise.
    spelled = (id.homeIdentity, id, generation)
    return true
  }

  private func serving<Result>(_ body: () throws -> Result) rethrows -> Result {
    try ObjectHandOver.serving(
      confinement.isCurrent ? reader.context : nil, by: coordinator, body)
  }

  func rows(for ids: [ManagedObjectID], maximumAge: TimeInterval?) throws -> [RowSnapshot?] {
    try serving {
      try coordinator.snapshots(
        for: ids, maximumAge: maximumAge, at: pin.resolved(in: coordinator))
    }
  }

  func retainedRow(for id: ManagedObjectID, maximumAge: TimeInterval?) throws -> RowSnapshot? {
    try serving {
      try coordinator.snapshot(
        for: id, maximumAge: maximumAge, at: pin.resolved(in: coordinator), isRetained: true)
    }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try serving {
      try coordinator.members(
        of: relationship, owners: owners, at: pin.resolved(in: coordinator))
    }
  }

  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?, rowLimit: Int
  ) throws -> [[MemberRow]] {
    try serving {
      try coordinator.memberRows(
        of: relationship, owners: owners, maximumAge: maximumAge, rowLimit: rowLimit,
        at: pin.resolved(in: coordinator))
    }
  }

  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?
  ) throws -> (members: [MemberVersion], cached: [RowSnapshot?])? {
    // A state of before is read row by row.
    guard try pin.resolved(in: coordinator) == nil else { return nil }
    return try serving {
      try coordinator.memberVersions(of: relationship, owners: owners, maximumAge: maximumAge)
    }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult {
    try serving { try coordinator.fetch(request, in: stores, at: pin.resolved(in: coordinator)) }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool,
    _ take: (StoreFetchResult) -> [Bool]
  ) throws {
    try serving {
      try coordinator.fetch(request, in: stores, at: pin.resolved(in: coordinator), take)
    }
  }

  func retainRows(_ ids: [ManagedObjectID]) { coordinator.retainRows(ids) }
  func releaseRows(_ ids: [ManagedObjectID]) { coordinator.releaseRows(ids) }
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
}

/// Rows made from the objects of a parent context, unsaved changes included.
final class ParentRows: RowSource {
  let parent: ManagedObjectContext

  init(parent: ManagedObjectContext) { self.parent = parent }

  func rows(for ids: [ManagedObjectID], maximumAge: TimeInterval?) throws -> [RowSnapshot?] {
    try parent.serve {
      let objects = ids.map { parent.object(with: $0) }
      try FaultFiring.fill(objects, maximumAge: maximumAge)
      return zip(ids, objects).map { asked, object in
        guard !object.isFault, !object.isDeleted else { return nil }
        return Self.row(of: object, under: asked)
      }
    }
  }

  // The parent's object holds the row.
  func retainedRow(for id: ManagedObjectID, maximumAge: TimeInterval?) throws -> RowSnapshot? {
    try rows(for: [id], maximumAge: maximumAge)[0]
  }

  /// The object's values now, as a row, without transient ones.
  ///
  /// IDs stay the ones the child knows.
  static func row(of object: ManagedObject, under id: ManagedObjectID) -> RowSnapshot {
    var values = object.currentValues
    if object.layout.persistentSlots.count != object.slotCount {
      for slot in values.indices where object.layout.slots[slot].isTransient {
        values[slot] = .null
      }
    }
    return RowSnapshot.make(
      objectID: id, version: object.snapshot?.version ?? 0, values: values)
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    parent.serve {
      owners.map { owner in
        let object = parent.object(with: owner)
        if object.isFault { FaultFiring.fire(object) }
        if object.isDeleted { return [] }
        guard let index = object.layout.toManyByName[relationship.name] else { return [] }
        return object.memberIDs(ofToMany: index)
      }
    }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult {
    try parent.serve {
      try FetchExecution(context: parent).run(
        request, in: stores, includesPendingChanges: includingPending)
    }
  }

  // The parent's objects hold the rows.
  func retainRows(_ ids: [ManagedObjectID]) {}
  func releaseRows(_ ids: [ManagedObjectID]) {}

  // The registries guard themselves, so these need no turn on the parent's queue.
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID? {
    parent.registry.predecessor(of: id) ?? parent.rowSource?.temporaryID(of: id)
  }
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID? {
    let known = parent.registry.current(id)
    return known === id ? parent.rowSource?.permanentID(of: id) : known
  }
}
