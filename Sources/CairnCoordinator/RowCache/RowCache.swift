import CairnModel
import CairnStore
import Foundation
import Synchronization

/// The committed rows that contexts of one coordinator share.
///
/// A row stays as long as some context holds its object (``retain(_:)``, ``release(_:)``); rows
/// that nobody came to hold are swept once there are many. Ages use the system's uptime, so that
/// a changed clock makes nothing stale. All mutable state is inside `state`.
final class RowCache: Sendable {
  private struct Entry {
    var snapshot: RowSnapshot?
    var references: Int
    var readAt: UInt64
  }

  /// The rows of one entity hierarchy of one store.
  private struct Table {
    var rows: [Int64: Entry] = [:]
    /// Those whose key is not a number.
    var others: [ObjectKey: Entry] = [:]

    subscript(key: ObjectKey) -> Entry? {
      get {
        if case .row(let number) = key { return rows[number] }
        return others[key]
      }
      set {
        if case .row(let number) = key { rows[number] = newValue } else { others[key] = newValue }
      }
    }

    /// The entry for a key; one without a row when there was none.
    subscript(key: ObjectKey, default now: UInt64) -> Entry {
      get { self[key] ?? Entry(snapshot: nil, references: 0, readAt: now) }
      set { self[key] = newValue }
    }
  }

  private struct StoreRows {
    var tables: [ObjectIdentifier: Table] = [:]
    /// Counts the commits that went through the coordinator.
    var commits: UInt64 = 0
    /// Rows that were cached before anybody held their object.
    var unclaimed: [ManagedObjectID] = []
  }

  /// From so many unclaimed rows on, those of earlier fetches are swept.
  private static let unclaimedLimit = 1024

  private let state = Mutex<[ObjectIdentifier: StoreRows]>([:])

  /// How many commits the store has seen; taken before a read, given to ``add(_:to:readAfter:)``.
  func commitCount(of identity: StoreIdentity) -> UInt64 {
    state.withLock { $0[ObjectIdentifier(identity)]?.commits ?? 0 }
  }

  /// The cached row, nil when there is none or it was read longer ago than `maximumAge` seconds.
  func snapshot(for id: ManagedObjectID, maximumAge: TimeInterval? = nil) -> RowSnapshot? {
    guard let identity = id.storeIdentity else { return nil }
    let oldest = Self.oldest(for: maximumAge)
    let root = ObjectIdentifier(id.entity.rootEntity)
    return state.withLock { stores in
      guard let entry = stores[ObjectIdentifier(identity)]?.tables[root]?[id.key],
        entry.readAt >= oldest
      else { return nil }
      return entry.snapshot
    }
  }

  /// The cached rows of IDs of one store, in their order.
  func snapshots(
    for ids: [ManagedObjectID], in identity: StoreIdentity, maximumAge: TimeInterval?
  ) -> [RowSnapshot?] {
    let oldest = Self.oldest(for: maximumAge)
    return state.withLock { stores in
      guard let store = stores[ObjectIdentifier(identity)] else {
        return Array(repeating: nil, count: ids.count)
      }
      return ids.map { id in
        guard let entry = store.tables[ObjectIdentifier(id.entity.rootEntity)]?[id.key],
          entry.readAt >= oldest
        else { return nil }
        return entry.snapshot
      }
    }
  }

  /// Takes rows that were just read.
  ///
  /// When there was a commit since `readAfter`, the rows may be older than what the cache knows:
  /// then only cached rows with an older version are replaced.
  func add(_ snapshots: [RowSnapshot], to identity: StoreIdentity, readAfter: UInt64) {
    if snapshots.isEmpty { return }
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { stores in
      let key = ObjectIdentifier(identity)
      let wasCommitted = (stores[key]?.commits ?? 0) != readAfter
      if (stores[key]?.unclaimed.count ?? 0) >= Self.unclaimedLimit {
        Self.sweep(&stores[key, default: StoreRows()])
      }
      for snapshot in snapshots {
        let id = snapshot.objectID
        let root = ObjectIdentifier(id.entity.rootEntity)
        let existing = stores[key]?.tables[root]?[id.key]
        if wasCommitted {
          guard let known = existing?.snapshot, known.version <= snapshot.version else { continue }
        }
        if existing == nil { stores[key, default: StoreRows()].unclaimed.append(id) }
        stores[key, default: StoreRows()].tables[root, default: Table()][id.key] = Entry(
          snapshot: snapshot, references: existing?.references ?? 0, readAt: now)
      }
    }
  }

  /// Takes what a commit wrote and forgets what it deleted.
  func commit(
    _ written: [RowSnapshot], deleted: [ManagedObjectID], in identity: StoreIdentity
  ) {
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { stores in
      let key = ObjectIdentifier(identity)
      stores[key, default: StoreRows()].commits += 1
      for snapshot in written {
        let id = snapshot.objectID
        let root = ObjectIdentifier(id.entity.rootEntity)
        let existing = stores[key]?.tables[root]?[id.key]
        if existing == nil { stores[key]?.unclaimed.append(id) }
        stores[key]?.tables[root, default: Table()][id.key] = Entry(
          snapshot: snapshot, references: existing?.references ?? 0, readAt: now)
      }
      for id in deleted {
        let root = ObjectIdentifier(id.entity.rootEntity)
        guard var entry = stores[key]?.tables[root]?[id.key] else { continue }
        entry.snapshot = nil
        stores[key]?.tables[root]?[id.key] = entry.references > 0 ? entry : nil
      }
    }
  }

  /// Counts one holder more for each ID.
  func retain(_ ids: [ManagedObjectID]) {
    let now = DispatchTime.now().uptimeNanoseconds
    state.withLock { stores in
      for id in ids {
        guard let identity = id.storeIdentity else { continue }
        let key = ObjectIdentifier(identity)
        let root = ObjectIdentifier(id.entity.rootEntity)
        stores[key, default: StoreRows()].tables[root, default: Table()][
          id.key, default: now
        ].references += 1
      }
    }
  }

  /// Counts one holder less for each ID; rows without holders go.
  func release(_ ids: [ManagedObjectID]) {
    state.withLock { stores in
      for id in ids {
        guard let identity = id.storeIdentity else { continue }
        let key = ObjectIdentifier(identity)
        let root = ObjectIdentifier(id.entity.rootEntity)
        guard var entry = stores[key]?.tables[root]?[id.key] else { continue }
        entry.references -= 1
        stores[key]?.tables[root]?[id.key] = entry.references > 0 ? entry : nil
      }
    }
  }

  /// Forgets everything about a store.
  func removeAll(of identity: StoreIdentity) {
    _ = state.withLock { $0.removeValue(forKey: ObjectIdentifier(identity)) }
  }

  /// Drops the rows of earlier reads that nobody came to hold.
  private static func sweep(_ store: inout StoreRows) {
    for id in store.unclaimed {
      let root = ObjectIdentifier(id.entity.rootEntity)
      if let entry = store.tables[root]?[id.key], entry.references <= 0 {
        store.tables[root]?[id.key] = nil
      }
    }
    store.unclaimed.removeAll(keepingCapacity: true)
  }

  private static func oldest(for maximumAge: TimeInterval?) -> UInt64 {
    guard let maximumAge, maximumAge.isFinite else { return 0 }
    if maximumAge <= 0 { return .max }
    let now = DispatchTime.now().uptimeNanoseconds
    let age = UInt64(min(maximumAge, 1e9) * 1e9)
    return now > age ? now - age : 0
  }
}
