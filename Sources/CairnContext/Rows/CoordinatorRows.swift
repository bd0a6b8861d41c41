import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Rows from the coordinator's row cache and its stores.
final class CoordinatorRows: RowSource {
  private let root: PersistentStoreCoordinator
  var coordinator: PersistentStoreCoordinator? { root }
  /// Whose rows these are, for stores that want to know.
  private let reader: ContextReference
  private let confinement: ContextConfinement
  private let generation = GenerationPin()
  var pin: GenerationPin? { generation }
  /// The last home that ``spells(_:)`` was asked about and found to be the coordinator's, and the
  /// ``PersistentStoreCoordinator/storeGeneration`` at that time.
  private var spelled: (home: ObjectIdentifier, example: ManagedObjectID, number: Int)?

  init(coordinator: PersistentStoreCoordinator, context: ManagedObjectContext) {
    root = coordinator
    reader = context.reference
    confinement = context.confinement
  }

  func spells(_ id: ManagedObjectID) -> Bool {
    let number = root.storeGeneration
    if let spelled, spelled.home == id.homeIdentity, spelled.number == number {
      return true
    }
    guard root.spells(id) else { return false }
    // The example keeps the home alive, whose identity could be another's otherwise.
    spelled = (id.homeIdentity, id, number)
    return true
  }

  private func serving<Result>(_ body: () throws -> Result) rethrows -> Result {
    try ObjectHandOver.serving(
      confinement.isCurrent ? reader.context : nil, by: root, body)
  }

  func rows(for ids: [ManagedObjectID], maximumAge: TimeInterval?) throws -> [RowSnapshot?] {
    try serving {
      try root.snapshots(
        for: ids, maximumAge: maximumAge, at: generation.resolved(in: root))
    }
  }

  func retainedRow(for id: ManagedObjectID, maximumAge: TimeInterval?) throws -> RowSnapshot? {
    try serving {
      try root.snapshot(
        for: id, maximumAge: maximumAge, at: generation.resolved(in: root), isRetained: true)
    }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try serving {
      try root.members(
        of: relationship, owners: owners, at: generation.resolved(in: root))
    }
  }

  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?, rowLimit: Int
  ) throws -> [[MemberRow]] {
    try serving {
      try root.memberRows(
        of: relationship, owners: owners, maximumAge: maximumAge, rowLimit: rowLimit,
        at: generation.resolved(in: root))
    }
  }

  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?
  ) throws -> (members: [MemberVersion], cached: [RowSnapshot?])? {
    // A state of before is read row by row.
    guard try generation.resolved(in: root) == nil else { return nil }
    return try serving {
      try root.memberVersions(of: relationship, owners: owners, maximumAge: maximumAge)
    }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult {
    try serving { try root.fetch(request, in: stores, at: generation.resolved(in: root)) }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool,
    _ take: (StoreFetchResult) -> [Bool]
  ) throws {
    try serving {
      try root.fetch(request, in: stores, at: generation.resolved(in: root), take)
    }
  }

  func retainRows(_ ids: [ManagedObjectID]) { root.retainRows(ids) }
  func releaseRows(_ ids: [ManagedObjectID]) { root.releaseRows(ids) }
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
}
