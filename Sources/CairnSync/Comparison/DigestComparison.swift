import CairnModel
import CairnStore
import Foundation

/// Compares two stores by their digests, and reads only what differs.
struct DigestComparison {
  let local: StoreAccess
  let replica: StoreAccess
  /// What is exchanged; nil for all.
  var filter: EntityFilter?

  /// - Returns: Nil when digests do not tell: the stores are of two versions of the model, a row is there
  ///   that no record has or the other way round, or the stores are written all the time. Then all is to
  ///   be read.
  func run(name: String) throws -> VerifyReport? {
    guard local.schema.namesDigest == replica.schema.namesDigest else { return nil }
    for access in [local, replica] { try DigestBuild(access: access).runIfNeeded() }
    for _ in 0..<3 {
      for access in [local, replica] { try HistoryCapture(access: access).run() }
      let before = try heads()
      // Damaged ones are found by a full comparison, which has them counted anew.
      guard var sums = try? [local, replica].map(Self.digests) else { return nil }
      for (access, sums) in zip([local, replica], sums) {
        guard try hasTheRows(access, of: sums) else { return nil }
      }
      if let filter {
        sums = sums.map { $0.filter { filter.concerns($0.key, local.schema) } }
      }
      let differing = Set(sums[0].keys).union(sums[1].keys).filter { bucket in
        !(sums[0][bucket] ?? DigestSum()).matches(sums[1][bucket] ?? DigestSum())
      }
      let differences = try StoreComparison(local: local, replica: replica, filter: filter)
        .differences(in: differing.sorted())
      guard try heads() == before, try isCaptured(local), try isCaptured(replica) else { continue }
      return VerifyReport(
        replica: name, level: .quick, records: Self.count(sums) { $0.root != nil },
        links: Self.count(sums) { $0.root == nil }, differences: differences)
    }
    return nil
  }

  /// In the store that has more of them.
  private static func count(
    _ sums: [[DigestBucket: DigestSum]], _ isCounted: (DigestBucket) -> Bool
  ) -> Int {
    let counts = sums.map { sums in
      sums.filter { isCounted($0.key) }.reduce(UInt64(0)) { $0 &+ $1.value.count }
    }
    return Int(clamping: counts.max() ?? 0)
  }

  /// Whether history tells of nothing that the digests do not.
  private func isCaptured(_ access: StoreAccess) throws -> Bool {
    let captured = try access.ledger().head.captured
    let later = try access.uncaptured(after: captured, limit: 64, includesChanges: false)
    return later.isAll && later.transactions.isEmpty
  }

  private func heads() throws -> [SyncHead] {
    try [local, replica].map { try $0.ledger().head }
  }

  static func digests(of access: StoreAccess) throws -> [DigestBucket: DigestSum] {
    guard let sidecar = access.store.capabilities.sidecar else { return [:] }
    var found: [DigestBucket: DigestSum] = [:]
    try sidecar.visitEntries(of: .digests) { key, value in
      found[try DigestBucket(decoding: key)] = try DigestSum(decoding: value)
    }
    return found
  }

  /// Whether the rows of every table are as many as the records, under the same keys.
  private func hasTheRows(_ access: StoreAccess, of sums: [DigestBucket: DigestSum]) throws -> Bool
  {
    var byRoot: [String: RowCensus] = [:]
    for (bucket, sum) in sums {
      guard let root = bucket.root else { continue }
      let old = byRoot[root]
      byRoot[root] = RowCensus(
        count: (old?.count ?? 0) &+ sum.count, keys: (old?.keys ?? 0) &+ sum.keys)
    }
    for root in access.schema.roots where access.store.holds(root) {
      let known = byRoot[root.name ?? ""] ?? RowCensus(count: 0, keys: 0)
      if try census(access, of: root) != known { return false }
    }
    return true
  }

  private func census(_ access: StoreAccess, of root: EntityDescription) throws -> RowCensus {
    if let census = try access.store.capabilities.rows?.census(of: root) { return census }
    let request = StoreFetchRequest(entity: root, result: .objectIDs)
    guard case .objectIDs(let objects) = try access.store.fetch(request) else {
      return RowCensus(count: 0, keys: 0)
    }
    return RowCensus(
      count: UInt64(objects.count),
      keys: objects.reduce(0) { $0 &+ UInt64(bitPattern: $1.rowKey ?? 0) })
  }
}

extension DigestBuild {
  /// Counts everything and compares it with the digests that are kept; wrong ones are believed no more.
  ///
  /// - Returns: Whether they were wrong. What changes meanwhile is no proof of that.
  func audit() throws -> Bool {
    guard let sidecar = access.store.capabilities.sidecar else { return false }
    let ledger = try access.ledger()
    guard let data = try ledger.value(SyncKey.digests),
      let state = try? DigestState(decoding: data), state.names == ledger.head.names,
      state.extent == .all
    else { return false }
    let kept = try? DigestComparison.digests(of: access)
    var counted: [DigestBucket: DigestSum] = [:]
    for map in [SyncMap.records, .links] {
      try sidecar.visitEntries(of: map) { key, value in
        guard let found = try ledger.digest(of: map.key(key), value) else { return }
        counted[found.bucket, default: DigestSum()] += found.sum
      }
    }
    if counted == kept { return false }
    // The store may have been written in between.
    guard try access.ledger().head == ledger.head,
      try kept == nil || DigestComparison.digests(of: access) == kept
    else { return false }
    try discard()
    return true
  }
}
