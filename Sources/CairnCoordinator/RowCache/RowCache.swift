import CairnModel
import CairnStore
import Foundation
import Synchronization

/// The committed rows that contexts of one coordinator share.
///
/// A row stays as long as some context holds its object (``retain(_:)``, ``release(_:)``); rows
/// that no context came to hold are swept once there are many. Ages use the system's uptime, so that
/// a changed clock makes nothing stale. All mutable state is inside `state`.
final class RowCache: Sendable {
  /// The rows of one entity hierarchy of one store.
  private struct Table {
    var rows = CachedRows()
    /// Those whose key is not a number.
    var others: [ObjectKey: CachedRow] = [:]

    var isEmpty: Bool { rows.count == 0 && others.isEmpty }

    @inline(__always)
    subscript(id: ManagedObjectID) -> CachedRow? {
      if let number = id.rowKey { return rows[number] }
      return others[id.key]
    }

    /// Changes the row of an object in place; an empty one when there was none.
    @inline(__always)
    mutating func change(_ id: ManagedObjectID, _ body: (inout CachedRow) -> Void) {
      if let number = id.rowKey {
        rows.change(number, body)
      } else {
        var row = others[id.key] ?? .empty
        body(&row)
        others[id.key] = row.isEmpty ? nil : row
      }
    }

    /// Takes a row that was just read, and counts a holder of it.
    @inline(__always)
    mutating func take(
      _ row: consuming RowSnapshot, isHeld: Bool, readAt time: UInt64, wasCommitted: Bool
    ) {
      if let number = row.rowKey {
        rows.take(row, for: number, isHeld: isHeld, readAt: time, wasCommitted: wasCommitted)
      } else {
        let key = row.objectID.key
        var entry = others[key] ?? .empty
        entry.take(row, readAt: time, wasCommitted: wasCommitted)
        if isHeld { entry.retain(at: time) }
        others[key] = entry.isEmpty ? nil : entry
      }
    }

    /// Drops the rows of earlier reads that no context came to hold, once they are many: a thousand,
    /// and an eighth of what there is, so that looking through all is paid for.
    mutating func sweep() {
      if rows.unclaimedCount >= max(RowCache.unclaimedLimit, rows.count / 8) {
        rows.removeUnclaimed()
      }
      if others.count >= RowCache.unclaimedLimit {
        others = others.filter { !$0.value.isUnclaimed }
      }
    }
  }

  private struct StoreRows {
    let identity: StoreIdentity
    /// By the number of the hierarchy's root entity.
    var tables: [Table] = []
    /// Counts the commits that went through the coordinator.
    var commits: UInt64 = 0

    static func place(of id: ManagedObjectID) -> Int { id.entity.layout?.rootNumber ?? 0 }

    /// The table an ID belongs to, there if it was not.
    mutating func tablePlace(of id: ManagedObjectID) -> Int {
      let place = Self.place(of: id)
      while tables.count <= place { tables.append(Table()) }
      return place
    }

    @inline(__always)
    func entry(of id: ManagedObjectID) -> CachedRow? {
      let place = Self.place(of: id)
      return place < tables.count ? tables[place][id] : nil
    }

    /// Takes rows as ``Table/take(_:isHeld:readAt:wasCommitted:)`` does, one after the other.
    ///
    /// - Parameter isHeld: By a row's place whether it gets a holder.
    @inline(__always)
    mutating func take(
      _ snapshots: [RowSnapshot], readAt now: UInt64, wasCommitted: Bool,
      isHeld: (Int) -> Bool
    ) {
      var place = 0
      var home: ObjectIdentifier?
      for index in snapshots.indices {
        RowSnapshot.fetchAhead(snapshots, from: index)
        let row = snapshots[index]
        // Rows come in runs of one table.
        if home != row.home {
          home = row.home
          place = tablePlace(of: row.objectID)
        }
        let next = index + RowCache.distanceAhead
        if next < snapshots.endIndex, let key = RowSnapshot.rowKey(at: next, in: snapshots) {
          tables[place].rows.fetchAhead(key)
        }
        tables[place].take(
          row, isHeld: isHeld(index), readAt: now, wasCommitted: wasCommitted)
      }
    }

    /// Changes entries one after the other, looking up each table once for a run of rows.
    mutating func update<Item>(
      _ items: some Sequence<Item>, id: (Item) -> ManagedObjectID,
      _ body: (Item, ManagedObjectID, inout Table) -> Void
    ) {
      var place = 0
      var entity: EntityDescription?
      for item in items {
        let id = id(item)
        if entity !== id.entity {
          entity = id.entity
          place = tablePlace(of: id)
        }
        body(item, id, &tables[place])
      }
    }
  }

  private struct State {
    /// Seldom more than one.
    var stores: [StoreRows] = []

    func place(of identity: StoreIdentity) -> Int? {
      if stores.count == 1 { return stores[0].identity === identity ? 0 : nil }
      return stores.firstIndex { $0.identity === identity }
    }
  }

  /// The rows of a store, for changing.
  private static func change<Result>(
    _ identity: StoreIdentity, in state: inout State, _ body: (inout StoreRows) -> Result
  ) -> Result {
    let place: Int
    if let known = state.place(of: identity) {
      place = known
    } else {
      place = state.stores.count
      state.stores.append(StoreRows(identity: identity))
    }
    return body(&state.stores[place])
  }

  /// From so many unclaimed rows on, those of earlier fetches are swept.
  fileprivate static let unclaimedLimit = 1024
  /// About as many rows as are taken while memory is waited for.
  private static let distanceAhead = 8

  private let state = Mutex(State())

  /// How many commits the store has seen; taken before a read, given to ``add(_:to:readAfter:)``.
  func commitCount(of identity: StoreIdentity) -> UInt64 {
    state.withLock { state in state.place(of: identity).map { state.stores[$0].commits } ?? 0 }
  }

  /// Whether there is any row of the hierarchy that the ID belongs to.
  func hasRows(like id: ManagedObjectID, in identity: StoreIdentity) -> Bool {
    state.withLock { state in
      guard let store = state.place(of: identity).map({ state.stores[$0] }) else { return false }
      let place = StoreRows.place(of: id)
      return place < store.tables.count && !store.tables[place].isEmpty
    }
  }

  /// The cached row, nil when there is none or it was read longer ago than `maximumAge` seconds.
  func snapshot(for id: ManagedObjectID, maximumAge: TimeInterval? = nil) -> RowSnapshot? {
    guard let identity = id.storeIdentity else { return nil }
    let oldest = Self.oldest(for: maximumAge)
    return state.withLock { state in
      guard let place = state.place(of: identity), let entry = state.stores[place].entry(of: id),
        entry.readAt >= oldest
      else { return nil }
      return entry.snapshot
    }
  }

  /// The cached row of a store's object, and how many commits the store has seen.
  ///
  /// - Parameter isRetained: Whether a row that is found has one holder more from now on.
  func snapshot(
    for id: ManagedObjectID, in identity: StoreIdentity, maximumAge: TimeInterval?,
    isRetained: Bool
  ) -> (row: RowSnapshot?, commits: UInt64) {
    let oldest = Self.oldest(for: maximumAge)
    return state.withLock { state in
      guard let place = state.place(of: identity) else { return (nil, 0) }
      let commits = state.stores[place].commits
      guard let entry = state.stores[place].entry(of: id), entry.readAt >= oldest,
        let row = entry.snapshot
      else { return (nil, commits) }
      if isRetained {
        let table = state.stores[place].tablePlace(of: id)
        state.stores[place].tables[table].change(id) { $0.references += 1 }
      }
      return (row, commits)
    }
  }

  /// The cached rows of IDs of one store, in their order.
  func snapshots(
    for ids: [ManagedObjectID], in identity: StoreIdentity, maximumAge: TimeInterval?
  ) -> [RowSnapshot?] {
    let oldest = Self.oldest(for: maximumAge)
    return state.withLock { state in
      guard let place = state.place(of: identity) else {
        return Array(repeating: nil, count: ids.count)
      }
      return ids.map { id in
        guard let entry = state.stores[place].entry(of: id), entry.readAt >= oldest else {
          return nil
        }
        return entry.snapshot
      }
    }
  }

  /// Takes one row that was just read, as ``add(_:to:readAfter:)`` takes many, and with
  /// `isRetained` counts a holder.
  func add(
    _ snapshot: RowSnapshot, to identity: StoreIdentity, readAfter: UInt64, isRetained: Bool
  ) {
    let id = snapshot.objectID
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { state in
      Self.change(identity, in: &state) { store in
        let wasCommitted = store.commits != readAfter
        let place = store.tablePlace(of: id)
        if !isRetained { store.tables[place].sweep() }
        store.tables[place].take(
          snapshot, isHeld: isRetained, readAt: now, wasCommitted: wasCommitted)
      }
    }
  }

  /// Takes rows that were just read.
  ///
  /// When there was a commit since `readAfter`, the rows may be older than what the cache knows:
  /// then only cached rows with an older version are replaced.
  ///
  /// - Parameter isHeld: Of each row whether it gets a holder, as ``retain(_:)`` gives one; empty
  ///   for none.
  func add(
    _ snapshots: [RowSnapshot], holding isHeld: [Bool] = [], to identity: StoreIdentity,
    readAfter: UInt64
  ) {
    if snapshots.isEmpty { return }
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { stores in
      Self.change(identity, in: &stores) { store in
        let wasCommitted = store.commits != readAfter
        for place in store.tables.indices { store.tables[place].sweep() }
        store.take(snapshots, readAt: now, wasCommitted: wasCommitted) {
          $0 < isHeld.count && isHeld[$0]
        }
      }
    }
  }

  /// Takes the rows of members that were just read, as ``add(_:to:readAfter:)`` does, and gives for
  /// those that it has already the row that it has, unless that is older than `maximumAge` seconds.
  func exchange(
    _ members: inout [[MemberRow]], in identity: StoreIdentity, maximumAge: TimeInterval?,
    readAfter: UInt64
  ) {
    let now = DispatchTime.now().uptimeNanoseconds
    let oldest = Self.oldest(for: maximumAge)
    state.withLock { state in
      Self.change(identity, in: &state) { store in
        let wasCommitted = store.commits != readAfter
        for place in store.tables.indices { store.tables[place].sweep() }
        var place = 0
        var entity: EntityDescription?
        for owner in members.indices {
          for index in members[owner].indices {
            guard let row = members[owner][index].row else { continue }
            let id = row.objectID
            if entity !== id.entity {
              entity = id.entity
              place = store.tablePlace(of: id)
            }
            store.tables[place].change(id) { entry in
              if let known = entry.snapshot, entry.readAt >= oldest {
                members[owner][index].row = known
              } else {
                entry.take(row, readAt: now, wasCommitted: wasCommitted)
              }
            }
          }
        }
      }
    }
  }

  /// Takes what a commit wrote and forgets what it deleted.
  ///
  /// - Parameters:
  ///   - holding: So many of the rows, from the first, get a holder more.
  ///   - takesNewRows: Whether rows are taken that are not here.
  ///   - before: The ``commitCount(of:)`` before the store was asked. When it has grown since, this
  ///     thread may have been overtaken by one whose commit came later: then the rows are taken as
  ///     rows that were read are.
  func commit(
    _ written: [RowSnapshot], deleted: [ManagedObjectID], in identity: StoreIdentity,
    holding: Int = 0, takesNewRows: Bool = true, after before: UInt64? = nil
  ) {
    let held = min(holding, written.count)
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { stores in
      Self.change(identity, in: &stores) { store in
        let wasCommitted = before.map { $0 != store.commits } ?? false
        store.commits += 1
        let written =
          takesNewRows ? written : written.filter { store.entry(of: $0.objectID) != nil }
        // New rows come in long runs of one entity.
        if held > 0 {
          store.tables[store.tablePlace(of: written[0].objectID)].rows.reserve(held)
        }
        store.take(written, readAt: now, wasCommitted: wasCommitted) { $0 < held }
        store.update(deleted, id: \.self) { id, _, table in
          if !table.isEmpty { table.change(id) { $0.snapshot = nil } }
        }
      }
    }
  }

  /// Counts one holder more for each ID.
  func retain(_ ids: [ManagedObjectID]) {
    let now = DispatchTime.now().uptimeNanoseconds
    changeRuns(of: ids) { id, _, table in
      table.change(id) { $0.retain(at: now) }
    }
  }

  /// Counts one holder less for each ID; rows without holders go.
  func release(_ ids: [ManagedObjectID]) {
    changeRuns(of: ids) { id, _, table in
      table.change(id) { entry in
        guard !entry.isEmpty else { return }
        entry.references -= 1
        if entry.references <= 0 { entry = .empty }
      }
    }
  }

  /// Changes the entries of IDs that may be of several stores.
  private func changeRuns(
    of ids: [ManagedObjectID],
    _ body: (ManagedObjectID, ManagedObjectID, inout Table) -> Void
  ) {
    state.withLock { stores in
      var start = ids.startIndex
      while start < ids.endIndex {
        let identity = ids[start].storeIdentity
        let end = ids[start...].firstIndex { !$0.isIn(identity) } ?? ids.endIndex
        if let identity {
          Self.change(identity, in: &stores) { $0.update(ids[start..<end], id: \.self, body) }
        }
        start = end
      }
    }
  }

  /// Forgets everything about a store.
  func removeAll(of identity: StoreIdentity) {
    state.withLock { $0.stores.removeAll { $0.identity === identity } }
  }

  private static func oldest(for maximumAge: TimeInterval?) -> UInt64 {
    guard let maximumAge, maximumAge.isFinite else { return 0 }
    if maximumAge <= 0 { return .max }
    let now = DispatchTime.now().uptimeNanoseconds
    let age = UInt64(min(maximumAge, 1e9) * 1e9)
    return now > age ? now - age : 0
  }
}
