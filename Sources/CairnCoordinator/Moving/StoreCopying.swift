import CairnModel
import CairnStore
import Foundation

/// Copies everything from one open store into another, empty one, whatever their kinds.
///
/// Objects get IDs of the new store. Rows are written in groups; links that no to-one slot carries
/// follow when all rows are there. From a store with query generations it reads a single one, whatever other programs
/// commit meanwhile, and holds the rows of one group at a time; those of any other it holds all, as they were at one
/// moment.
struct StoreCopying {
  private let source: PersistentStore
  private let destination: PersistentStore
  /// The generation to read; nil for the store as it is.
  private let state: (any StoreGeneration)?
  /// Rows, or links, of a group; fewer rows where they are long.
  private static let groupSize = 5_000
  /// How many rows the first group has, of which nothing is known yet.
  private static let firstGroupSize = 16
  /// Bytes of texts and data that a group is meant to have.
  private static let groupBytes = 8 << 20

  init(source: PersistentStore, destination: PersistentStore) throws {
    self.source = source
    self.destination = destination
    state = try source.capabilities.generations?.currentGeneration(lasting: .untilReleased)
  }

  /// Copies all objects.
  ///
  /// - Returns: Each object's new ID.
  /// - Throws: 133021 when the new store keeps uniqueness constraints that the old one did not, and
  ///   what the stores throw. The new store is then to be thrown away.
  func run() throws -> [ManagedObjectID: ManagedObjectID] {
    let entities = source.managedObjectModel.entities.filter {
      source.holds($0) && !$0.isAbstract
    }
    let held = try state == nil ? entities.flatMap { try rows(of: $0) } : nil
    let objects = try held?.map(\.objectID) ?? entities.flatMap { try self.objects(of: $0) }
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    ids.reserveCapacity(objects.count)
    let new = try destination.obtainPermanentIDs(for: objects.map(\.entity))
    for (object, id) in zip(objects, new) { ids[object] = id }
    let links = try self.links(of: objects, ids: ids)
    var start = 0
    var size = Self.firstGroupSize
    while start < objects.count {
      let group = start..<min(start + size, objects.count)
      let rows =
        try held?[group] ?? state?.snapshots(for: Array(objects[group])).compactMap(\.self)[...]
      try write(rows ?? [], under: ids)
      start = group.upperBound
      size = Self.size(after: rows ?? [])
    }
    for start in stride(from: 0, to: links.count, by: Self.groupSize) {
      var request = SaveChangesRequest()
      request.links = Array(links[start..<min(start + Self.groupSize, links.count)])
      try write(request)
    }
    return ids
  }

  /// How many rows the group after one is to have.
  private static func size(after rows: ArraySlice<RowSnapshot>) -> Int {
    let bytes = rows.reduce(0) { $0 + $1.values.reduce(0) { $0 + Self.bytes(of: $1) } }
    let fitting = groupBytes / max(1, bytes / max(1, rows.count))
    return max(1, min(fitting, 4 * max(rows.count, firstGroupSize), groupSize))
  }

  /// Bytes of what may be long.
  private static func bytes(of value: AttributeValue) -> Int {
    switch value {
    case .data(let data): data.count
    case .string(let text): text.utf8.count
    default: 0
    }
  }

  private func rows(of entity: EntityDescription) throws -> [RowSnapshot] {
    let request = StoreFetchRequest(entity: entity, includesSubentities: false)
    switch try source.fetch(request) {
    case .snapshots(let rows): return rows
    case .objectIDs(let ids): return try source.snapshots(for: ids).compactMap(\.self)
    case .count, .dictionaries: return []
    }
  }

  /// The objects of an entity in the generation.
  private func objects(of entity: EntityDescription) throws -> [ManagedObjectID] {
    let request = StoreFetchRequest(
      entity: entity, includesSubentities: false, result: .objectIDs)
    guard case .objectIDs(let ids)? = try state?.fetch(request) else { return [] }
    return ids
  }

  private func write(
    _ rows: ArraySlice<RowSnapshot>, under ids: [ManagedObjectID: ManagedObjectID]
  ) throws {
    var request = SaveChangesRequest()
    request.insertions = rows.map { .init(snapshot: Self.row($0, under: ids)) }
    try write(request)
  }

  /// The row with IDs of the new store; links to objects that have gone are dropped.
  private static func row(
    _ row: RowSnapshot, under ids: [ManagedObjectID: ManagedObjectID]
  ) -> RowSnapshot {
    let values = row.values.map { value -> AttributeValue in
      guard case .object(let id) = value else { return value }
      return ids[id].map { .object($0) } ?? .null
    }
    return .make(objectID: ids[row.objectID] ?? row.objectID, version: 1, values: values)
  }

  private func write(_ request: SaveChangesRequest) throws {
    switch try destination.save(request) {
    case .saved: return
    case .constraintViolations(let violations):
      throw CoreDataError(
        .managedObjectConstraintMerge,
        "The store cannot be written as \(destination.type), which keeps uniqueness constraints: "
          + "several objects of \(violations.first?.entity.name ?? "?") have the same "
          + "\(violations.first?.constraint.joined(separator: ", ") ?? "values").")
    case .conflicts, .sidecarChanged, .rowKeysTaken:
      throw CoreDataError(
        .persistentStoreSave,
        "The new store \(destination.url?.storePlace ?? "") was written to by another program meanwhile."
      )
    }
  }

  // MARK: Links

  /// The links that no to-one slot carries: many-to-many from one side, to-manys without inverse,
  /// and the order of ordered relationships.
  private func links(
    of objects: [ManagedObjectID], ids: [ManagedObjectID: ManagedObjectID]
  ) throws -> [SaveChangesRequest.LinkChange] {
    var places: [ManagedObjectID: Int] = [:]
    for (place, object) in objects.enumerated() { places[object] = place }
    var groups: [ObjectIdentifier: [ManagedObjectID]] = [:]
    var entities: [EntityDescription] = []
    for object in objects {
      let entity = object.entity
      if groups[ObjectIdentifier(entity)] == nil { entities.append(entity) }
      groups[ObjectIdentifier(entity), default: []].append(object)
    }
    var links: [SaveChangesRequest.LinkChange] = []
    for entity in entities {
      let owners = groups[ObjectIdentifier(entity)] ?? []
      for relationship in entity.layout?.toManys ?? [] where !relationship.isTransient {
        let carries = Self.carriesLinks(relationship)
        if !carries, !relationship.isOrdered { continue }
        let members =
          try state?.members(of: relationship, owners: owners)
          ?? source.members(of: relationship, owners: owners)
        for (owner, list) in zip(owners, members) where !list.isEmpty {
          guard let newOwner = ids[owner] else { continue }
          // One owner alone tells a link of a relationship that is its own inverse.
          let isMutual = relationship.inverseRelationship === relationship
          let told = list.filter { !isMutual || (places[owner] ?? 0) <= (places[$0] ?? 0) }
          links.append(
            SaveChangesRequest.LinkChange(
              relationship: relationship, owner: newOwner,
              added: carries ? told.compactMap { ids[$0] } : [],
              order: relationship.isOrdered ? list.compactMap { ids[$0] } : nil))
        }
      }
    }
    // Orders may name links that other owners tell.
    return links.filter { !$0.added.isEmpty } + links.filter { $0.added.isEmpty }
  }

  /// Whether this side of a relationship tells its links.
  private static func carriesLinks(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return true }
    guard inverse.isToMany else { return false }
    if inverse === relationship { return true }
    if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
    func key(_ relationship: RelationshipDescription) -> (String, String) {
      (relationship.entity?.name ?? "", relationship.name)
    }
    return key(relationship) <= key(inverse)
  }
}
