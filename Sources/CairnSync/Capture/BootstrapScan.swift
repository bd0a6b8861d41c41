import CairnModel
import CairnStore
import Foundation

/// Takes up the rows that history does not tell of, such as those of a store that Core Data wrote:
/// in chunks, each one commit, going on after a restart where it was.
struct BootstrapScan {
  let access: StoreAccess
  static let rowsPerCommit = 500
  /// How many rows have one number of the change order, and so travel together.
  ///
  /// As few as a reader writes at a time beside programs, which wait for as long as that takes.
  static let rowsPerNumber = BatchPacing.least
  /// How many rows are looked for in the bookkeeping at once: history has brought most of them there.
  static let rowsPerLook = 4096

  func run(progress: (Int) throws -> Void) throws {
    guard case .scanning = try access.ledger().head.bootstrap else { return }
    for root in access.schema.roots where access.store.holds(root) {
      let rows = try Rows(of: root, in: access.store)
      while let count = try scanChunk(root.name ?? "", rows) { try progress(count) }
    }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      guard case .scanning = ledger.head.bootstrap else { return }
      ledger.head.bootstrap = .done
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The rows of an entity's tree in the order of their keys.
  private struct Rows {
    private let root: EntityDescription
    private let paging: (any RowScanning)?
    /// All of them, where the store gives no pages.
    private let all: [(key: Int64, id: ManagedObjectID)]

    init(of root: EntityDescription, in store: PersistentStore) throws {
      self.root = root
      paging = store.capabilities.rows
      let request = StoreFetchRequest(entity: root, result: .objectIDs)
      guard paging == nil, case .objectIDs(let ids) = try store.fetch(request) else {
        all = []
        return
      }
      all = Self.keyed(ids).sorted { $0.key < $1.key }
    }

    func page(after key: Int64, limit: Int) throws -> ArraySlice<(key: Int64, id: ManagedObjectID)>
    {
      guard let paging else {
        return all[all.partitioningIndex { $0.key > key }...].prefix(limit)
      }
      return Self.keyed(try paging.objectIDs(of: root, after: key, limit: limit))[...]
    }

    private static func keyed(_ ids: [ManagedObjectID]) -> [(key: Int64, id: ManagedObjectID)] {
      ids.compactMap { id in id.rowKey.map { (key: $0, id: id) } }
    }
  }

  /// As many of the rows as one commit takes up.
  private func bounded(
    _ rows: ArraySlice<(key: Int64, id: ManagedObjectID)>
  ) throws -> ArraySlice<(key: Int64, id: ManagedObjectID)> {
    if rows.isEmpty { return rows }
    var bytes = 0
    let sizes = try access.sizes(of: rows.map(\.id))
    let count = sizes.prefix { size in
      bytes += size
      return bytes <= access.configuration.batchBytes
    }.count
    return rows.prefix(max(1, count))
  }

  /// - Returns: The number of rows looked at; nil when the entity is done.
  private func scanChunk(_ root: String, _ rows: Rows) throws -> Int? {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.freshLedger()
      guard case .scanning(let entity, let after) = ledger.head.bootstrap, entity <= root else {
        return nil
      }
      let looked = try rows.page(
        after: entity == root ? after : .min, limit: Self.rowsPerLook)
      guard let end = looked.last?.key else { return nil }
      let values = try ledger.stored(looked.compactMap { SyncKey.object($0.id) })
      let missing = zip(looked, values).filter { $1 == nil }.map(\.0)
      let unknown = try bounded(missing.prefix(Self.rowsPerCommit))
      let last = unknown.count < missing.count ? unknown.last?.key ?? end : end
      var work = CaptureWork(access: access, ledger: ledger)
      let stamp = Stamp(clock: .beforeSync, store: ledger.storeID)
      ledger.head.clock.receive(stamp.clock, limit: access.latestCredibleTime)
      try ledger.prefetch(unknown.compactMap { SyncKey.object($0.id) })
      try ledger.prefetch(unknown.compactMap { SyncKey.birth($0.id) })
      // Rows that the capture took up from history get no number here: readers would get a change set of nothing.
      for (place, object) in unknown.enumerated() {
        if place.isMultiple(of: Self.rowsPerNumber) { ledger.head.sequence += 1 }
        try work.insert(object.id, stamp)
      }
      try work.finish()
      ledger.head.bootstrap = .scanning(entity: root, after: last)
      guard try ledger.isCurrent() else { continue }
      try access.environment.reach(.beforeBootstrapCommit)
      if try access.commit(ledger, isRebased: true) {
        try access.environment.reach(.afterBootstrapCommit)
        return looked.count { $0.key <= last }
      }
    }
    throw StoreAccess.contention(access.store)
  }
}

extension RandomAccessCollection {
  /// The first index whose element fulfils a condition that holds from some place on.
  fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Index {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if condition(self[middle]) { high = middle } else { low = index(after: middle) }
    }
    return low
  }
}
