import CairnModel
import CairnStore
import Foundation

/// What contexts read through a coordinator. Synchronous, from any thread; no lock is held while a
/// store works.
extension PersistentStoreCoordinator {
  var routing: RequestRouting { RequestRouting(stores: persistentStores) }

  /// Whether an ID is of the coordinator's model and of one of its stores, and not of another
  /// coordinator's on the same store.
  package func spells(_ id: ManagedObjectID) -> Bool {
    guard let identity = id.storeIdentity else { return false }
    return store(with: identity) != nil && id.entity.isOf(managedObjectModel)
  }

  /// Finds rows in all stores that hold the entity, or in those of `stores`, as if they were one.
  ///
  /// Rows go into the row cache, except those of a generation, which may be older than what it has.
  /// Without a store the result is empty.
  package func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]? = nil,
    at generation: QueryGenerationToken? = nil
  ) throws -> StoreFetchResult {
    let targets = routing.stores(
      holding: request.entity, includesSubentities: request.includesSubentities,
      restriction: stores)
    if targets.count == 1 { return try fetch(request, from: targets[0], at: generation) }
    return try ResultMerging(
      request: request, source: CoordinatorSnapshots(coordinator: self, generation: generation)
    ).run(targets.map { store in { try self.fetch($0, from: store, at: generation) } })
  }

  /// The same, handed over in portions while a store reads where it can do that, and all at once
  /// otherwise.
  ///
  /// - Parameter take: Must not use the stores. Tells of each row whether it gets a holder, as
  ///   ``retainRows(_:)`` gives one; empty for none.
  package func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?,
    at generation: QueryGenerationToken?, _ take: (StoreFetchResult) -> [Bool]
  ) throws {
    if generation == nil, !hasMembers {
      let targets = routing.stores(
        holding: request.entity, includesSubentities: request.includesSubentities,
        restriction: stores)
      if targets.count == 1 {
        let store = targets[0]
        let commits = rows.commitCount(of: store.identity)
        return try store.fetch(request, portion: 128) { portion in
          let isHeld = take(portion)
          if case .snapshots(let snapshots) = portion {
            rows.add(snapshots, holding: isHeld, to: store.identity, readAfter: commits)
          }
        }
      }
    }
    let result = try fetch(request, in: stores, at: generation)
    let held = result.rowIDs(marked: take(result))
    if !held.isEmpty { retainRows(held) }
  }

  /// One store's rows, which the row cache takes.
  private func fetch(
    _ request: StoreFetchRequest, from store: PersistentStore, at generation: QueryGenerationToken?
  ) throws -> StoreFetchResult {
    if let state = generation?.generation(of: store.identity) { return try state.fetch(request) }
    let commits = rows.commitCount(of: store.identity)
    let result = try store.fetch(request)
    if case .snapshots(let snapshots) = result {
      rows.add(snapshots, to: store.identity, readAfter: commits)
    }
    return result
  }

  /// The committed rows of objects, in their order; nil where there is none.
  ///
  /// From the row cache, and from the stores for what it lacks or has for longer than `maximumAge`
  /// seconds (nil: any age is fine; 0: always from the store). With a generation, from that.
  package func snapshots(
    for ids: [ManagedObjectID], maximumAge: TimeInterval? = nil,
    at generation: QueryGenerationToken? = nil
  ) throws -> [RowSnapshot?] {
    if ids.count == 1, generation == nil {
      return [try snapshot(for: ids[0], maximumAge: maximumAge, isRetained: false)]
    }
    var result = [RowSnapshot?](repeating: nil, count: ids.count)
    for (store, places) in routing.groups(of: ids) {
      let wanted = places.map { ids[$0] }
      if let state = generation?.generation(of: store.identity) {
        for (place, row) in zip(places, try state.snapshots(for: wanted)) { result[place] = row }
        continue
      }
      let cached = rows.snapshots(for: wanted, in: store.identity, maximumAge: maximumAge)
      var missing: [Int] = []
      for (index, place) in places.enumerated() {
        if let row = cached[index] { result[place] = row } else { missing.append(place) }
      }
      if missing.isEmpty { continue }
      let commits = rows.commitCount(of: store.identity)
      let read = try store.snapshots(for: missing.map { ids[$0] })
      for (index, place) in missing.enumerated() { result[place] = read[index] }
      rows.add(read.compactMap(\.self), to: store.identity, readAfter: commits)
    }
    return result
  }

  /// The same for one object: the way of every fault that fires alone.
  ///
  /// - Parameter isRetained: Whether a row that is found is retained, as ``retainRows(_:)`` does.
  package func snapshot(
    for id: ManagedObjectID, maximumAge: TimeInterval?,
    at generation: QueryGenerationToken? = nil, isRetained: Bool
  ) throws -> RowSnapshot? {
    if let generation {
      let row = try snapshots(for: [id], maximumAge: maximumAge, at: generation)[0]
      if row != nil, isRetained { retainRows([id]) }
      return row
    }
    guard !id.isTemporaryID, let identity = id.storeIdentity else { return nil }
    guard let store = store(with: identity) ?? routing.store(of: identity) else { return nil }
    let (cached, commits) = rows.snapshot(
      for: id, in: identity, maximumAge: maximumAge, isRetained: isRetained)
    guard let row = try cached ?? store.snapshot(for: id) else { return nil }
    if cached == nil {
      // The row is in the table of the object that was asked for.
      let isSame = row.objectID === id || row.objectID.isEqual(id)
      rows.add(row, to: identity, readAfter: commits, isRetained: isRetained && isSame)
      if isRetained, !isSame { rows.retain([id]) }
    }
    if isRetained, hasMembers { tellRegistration(of: [id]) { $0.contextsDidRegister($1) } }
    return row
  }

  /// The row as the row cache has it, without asking a store.
  package func cachedSnapshot(for id: ManagedObjectID) -> RowSnapshot? {
    rows.snapshot(for: id)
  }

  /// The members of a to-many relationship of each owner, in the order of the owners.
  ///
  /// Owners that are not in a store here have none.
  package func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    at generation: QueryGenerationToken? = nil
  ) throws -> [[ManagedObjectID]] {
    var result = [[ManagedObjectID]](repeating: [], count: owners.count)
    for (store, places) in routing.groups(of: owners) {
      let wanted = places.map { owners[$0] }
      let members =
        try generation?.generation(of: store.identity)?.members(of: relationship, owners: wanted)
        ?? store.members(of: relationship, owners: wanted)
      for (index, place) in places.enumerated() { result[place] = members[index] }
    }
    return result
  }

  /// The same with the rows of the first `rowLimit` members, where a store gives them along.
  ///
  /// A row that the row cache has, and has for no longer than `maximumAge` seconds, is taken from
  /// there, as ``snapshots(for:maximumAge:at:)`` does.
  package func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    maximumAge: TimeInterval?, rowLimit: Int, at generation: QueryGenerationToken? = nil
  ) throws -> [[MemberRow]] {
    if generation == nil, owners.count == 1, let identity = owners[0].storeIdentity,
      !owners[0].isTemporaryID, let store = routing.store(of: identity),
      let reader = store.capabilities.members
    {
      return try memberRows(
        of: relationship, owners: owners, in: reader, store.identity, maximumAge, rowLimit)
    }
    var result = [[MemberRow]](repeating: [], count: owners.count)
    for (store, places) in routing.groups(of: owners) {
      let wanted = places.count == owners.count ? owners : places.map { owners[$0] }
      let found: [[MemberRow]]
      if generation == nil, let reader = store.capabilities.members {
        found = try memberRows(
          of: relationship, owners: wanted, in: reader, store.identity, maximumAge, rowLimit)
      } else {
        found = try members(of: relationship, owners: wanted, at: generation).map { members in
          members.map { MemberRow(objectID: $0, row: nil) }
        }
      }
      if places.count == owners.count { return found }
      for (index, place) in places.enumerated() { result[place] = found[index] }
    }
    return result
  }

  private func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID],
    in store: any MemberReading, _ identity: StoreIdentity, _ maximumAge: TimeInterval?,
    _ rowLimit: Int
  ) throws -> [[MemberRow]] {
    let commits = rows.commitCount(of: identity)
    var found = try store.memberRows(of: relationship, owners: owners, rowLimit: rowLimit)
    rows.exchange(&found, in: identity, maximumAge: maximumAge, readAfter: commits)
    return found
  }

  /// The members of a to-many relationship of any of the owners, to be deleted: their keys and
  /// versions, and the rows that the row cache has, as ``snapshots(for:maximumAge:at:)`` takes them.
  ///
  /// Nil when the owners' store wants whole rows, or they are of several.
  package func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], maximumAge: TimeInterval?
  ) throws -> (members: [MemberVersion], cached: [RowSnapshot?])? {
    guard let identity = owners.first?.storeIdentity, let store = routing.store(of: identity),
      let reader = store.capabilities.members,
      owners.allSatisfy({ !$0.isTemporaryID && $0.storeIdentity === identity }),
      let members = try reader.memberVersions(of: relationship, owners: owners)
    else { return nil }
    guard let first = members.first, rows.hasRows(like: first.objectID, in: store.identity) else {
      return (members, [])
    }
    let cached = rows.snapshots(
      for: members.map(\.objectID), in: store.identity, maximumAge: maximumAge)
    return (members, cached)
  }

  /// The ID that a URI stands for, whether or not there is such an object; nil when no open store
  /// has that UUID or the model no such entity.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    routing.managedObjectID(forURIRepresentation: url, model: managedObjectModel)
  }

  /// Drops cached rows that another writer has changed; the next read asks the stores.
  package func forgetRows(_ ids: [ManagedObjectID]) {
    for (store, places) in routing.groups(of: ids) {
      rows.commit([], deleted: places.map { ids[$0] }, in: store.identity)
    }
  }

  /// Counts a holder for the objects' rows: they stay in the row cache until it is released.
  package func retainRows(_ ids: [ManagedObjectID]) {
    rows.retain(ids)
    if hasMembers { tellRegistration(of: ids) { $0.contextsDidRegister($1) } }
  }

  /// Ends what ``retainRows(_:)`` began.
  package func releaseRows(_ ids: [ManagedObjectID]) {
    rows.release(ids)
    if hasMembers { tellRegistration(of: ids) { $0.contextsDidUnregister($1) } }
  }

  /// Tells stores that count who holds their objects.
  private func tellRegistration(
    of ids: [ManagedObjectID],
    _ tell: (any RegistrationObserving, [ManagedObjectID]) -> Void
  ) {
    for (store, places) in routing.groups(of: ids) {
      guard let observer = store.capabilities.registrations else { continue }
      tell(observer, places.map { ids[$0] })
    }
  }

  /// The state of all stores now, for reading later; stores that cannot keep one are left out.
  package func currentQueryGeneration() throws -> QueryGenerationToken {
    try QueryGenerationToken.pinning(persistentStores)
  }

  /// The newest place in the history of the given stores, nil for all; nil when none of them
  /// keeps history.
  public func currentPersistentHistoryToken(
    fromStores stores: [Any]?
  ) -> PersistentHistoryToken? {
    let wanted = stores?.compactMap { $0 as? PersistentStore }
    var numbers: [String: Int64] = [:]
    for store in persistentStores {
      if let wanted, !wanted.contains(where: { $0 === store }) { continue }
      guard let keeper = store.capabilities.history, store.configuration.options.tracksHistory,
        let number = try? keeper.lastTransactionNumber()
      else { continue }
      numbers[store.identity.identifier] = number
    }
    return numbers.isEmpty ? nil : PersistentHistoryToken(numbers: numbers)
  }
}
