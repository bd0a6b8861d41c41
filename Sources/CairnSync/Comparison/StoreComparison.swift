import CairnModel
import CairnStore
import Foundation
import Synchronization

/// Compares two stores as they are now: digests over record IDs, stamps and the values in the rows,
/// in buckets, and property by property only where the digests differ.
///
/// Stores of two versions of the model are compared in what both have, and in what the older one keeps
/// for the newer; in the names of the local store.
struct StoreComparison {
  let local: StoreAccess
  let replica: StoreAccess
  /// From the replica's names to those of the local store; nil for one version.
  private let translation: SchemaTranslation?
  /// What is compared, in the names of the local store; nil for all.
  private let filter: EntityFilter?
  private let localMembers: ComparedMembers
  private let replicaMembers: ComparedMembers
  static let page = 512

  init(local: StoreAccess, replica: StoreAccess, filter: EntityFilter? = nil) {
    self.filter = filter
    self.local = local
    self.replica = replica
    translation = .between(replica, and: local)
    localMembers = ComparedMembers(of: local, nil, besides: replica, translation, filter)
    replicaMembers = ComparedMembers(of: replica, translation, besides: local, nil, filter)
  }

  /// A live record with what its row holds.
  private struct Entry {
    var state: RecordState
    var members: [String: [RecordID]]
  }

  /// A live record as a walk comes by it: its state in the local store's names, not yet ``comparable(_:_:)``.
  private struct Visited {
    let state: RecordState
    let members: [String: [RecordID]]
    let ledger: Ledger
    /// Nil for a record of an entity that only a newer version of the model has.
    let object: ManagedObjectID?
  }

  private struct Summary {
    var buckets = [DigestSum](repeating: DigestSum(), count: 256)
    var records = 0
    var links = 0
    /// What the rows of each table would be, if there were no others.
    var rows: [String: RowCensus] = [:]
  }

  /// Reads everything.
  func run(name: String) throws -> VerifyReport {
    let (mine, theirs) = try summaries()
    var differences: [StoreDifference] = []
    let (a, b) = try differing(mine, theirs)
    for id in Set(a.keys).union(b.keys).sorted() {
      differences += compare(id, a[id], b[id])
    }
    differences = try StrayValues.told(differences, local, replica, translation)
    differences += try unknownRows(of: local, mine, .unknownLocal)
    differences += try unknownRows(of: replica, theirs, .unknownReplica)
    return VerifyReport(
      replica: name, level: .full, records: max(mine.records, theirs.records),
      links: max(mine.links, theirs.links), differences: differences)
  }

  /// Reads the records of some buckets, and of links their owners.
  func differences(in buckets: [DigestBucket]) throws -> [StoreDifference] {
    let ids = try Set([local, replica].flatMap { try records(of: $0, in: buckets) })
    let a = try entries(of: local, ids)
    let b = try entries(of: replica, ids)
    return ids.sorted().flatMap { compare($0, a[$0], b[$0]) }
  }

  private func records(of access: StoreAccess, in buckets: [DigestBucket]) throws -> Set<RecordID> {
    guard let sidecar = access.store.capabilities.sidecar else { return [] }
    var found: Set<RecordID> = []
    for bucket in buckets {
      let range = bucket.range
      let entries = try sidecar.sidecarEntries(
        of: range.map.rawValue, from: range.from, to: range.to, limit: 0)
      for (key, _) in entries {
        if range.map == .records {
          found.insert(try SyncKey.identity(RecordID.self, in: key))
        } else {
          let link = try SyncKey.linkKey(from: key)
          found.formUnion([link.owner, link.member])
        }
      }
    }
    return found
  }

  /// The live ones of some records.
  private func entries(
    of access: StoreAccess, _ ids: Set<RecordID>
  ) throws -> [RecordID: Entry] {
    var found: [RecordID: Entry] = [:]
    var rest = ids.sorted()[...]
    while !rest.isEmpty {
      let page = rest.prefix(Self.page)
      rest = rest.dropFirst(Self.page)
      let ledger = try access.ledger()
      try ledger.prefetch(records: page)
      let entries = try page.compactMap { id in try ledger.record(id).map { (id: id, entry: $0) } }
      try visit(entries, access, ledger) { found[$0] = try entry($1) }
    }
    return found
  }

  private func entry(_ visited: Visited) throws -> Entry {
    Entry(state: try comparable(visited.state, visited.ledger), members: visited.members)
  }

  private func summaries() throws -> (local: Summary, replica: Summary) {
    let found = try StoreAccess.all([local, replica]) { try summary(of: $0) }
    return (found[0], found[1])
  }

  /// By record, the properties that differ although both stores know the same write of them, and the
  /// relationships with other members.
  func differencesWithoutWrites() throws -> [RecordID: Set<String>] {
    var found: [RecordID: Set<String>] = [:]
    let (mine, theirs) = try summaries()
    let (a, b) = try differing(mine, theirs)
    for (id, mine) in a {
      guard let theirs = b[id] else { continue }
      for difference in compare(id, mine, theirs) {
        guard let name = difference.property else { continue }
        if difference.kind == .members || difference.isOfOneWrite {
          found[id, default: []].insert(name)
        }
      }
    }
    return found
  }

  /// The records of the buckets whose digests differ.
  private func differing(
    _ mine: Summary, _ theirs: Summary
  ) throws -> (local: [RecordID: Entry], replica: [RecordID: Entry]) {
    let buckets = Set(mine.buckets.indices.filter { mine.buckets[$0] != theirs.buckets[$0] })
    if buckets.isEmpty { return ([:], [:]) }
    return (try entries(of: local, in: buckets), try entries(of: replica, in: buckets))
  }

  private func compare(_ id: RecordID, _ a: Entry?, _ b: Entry?) -> [StoreDifference] {
    guard let present = a ?? b else { return [] }
    func difference(
      _ kind: StoreDifference.Kind, _ property: String?, _ values: StoreDifference.Values? = nil
    ) -> StoreDifference {
      StoreDifference(
        kind: kind, record: id, entity: present.state.entity, property: property, values: values)
    }
    guard let a else { return [difference(.onlyReplica, nil)] }
    guard let b else { return [difference(.onlyLocal, nil)] }
    guard a.state.entity == b.state.entity else { return [difference(.entity, nil)] }
    var found: [StoreDifference] = []
    let names = Set(a.state.registers.names).union(b.state.registers.names)
    for name in names.sorted() {
      let mine = a.state.registers[name]
      let theirs = b.state.registers[name]
      if mine == nil, let theirs, isUnwritten(name, theirs, of: a.state) { continue }
      if filter?.keeps(mine, theirs, of: name, a.state.entity) == true { continue }
      if !WireValue.areKeptSame(mine?.value, theirs?.value) {
        let values = StoreDifference.Values(
          local: mine?.value, replica: theirs?.value,
          areOfOneWrite: mine != nil && mine?.write.stamp == theirs?.write.stamp)
        found.append(difference(.value, name, values))
      } else if mine?.write.stamp != theirs?.write.stamp {
        found.append(difference(.stamp, name))
      }
    }
    for name in Set(a.members.keys).union(b.members.keys).sorted()
    where a.members[name] != b.members[name] {
      found.append(difference(.members, name))
    }
    return found
  }

  /// Whether a value of the replica is what a new row has in a property that the local store's model,
  /// which is an older one, does not know: no program wrote it.
  private func isUnwritten(_ name: String, _ register: Register, of mine: RecordState) -> Bool {
    guard translation != nil, let plan = local.schema.entities[mine.entity],
      plan.names.place(of: name) == nil
    else { return false }
    let stamp = register.write.stamp
    return stamp == PropertyWrite.filledIn.stamp
      || mine.registers.hasWrite { $0.stamp == stamp }
  }

  /// The rows without a record ID: what was written past history, or lost from the bookkeeping.
  private func unknownRows(
    of access: StoreAccess, _ summary: Summary, _ kind: StoreDifference.Kind
  ) throws -> [StoreDifference] {
    var found: [StoreDifference] = []
    for root in access.schema.roots where access.store.holds(root) {
      // As many rows as live records, under the same keys: there are no others.
      if filter == nil, let census = try access.store.capabilities.rows?.census(of: root),
        census == summary.rows[root.name ?? ""] ?? RowCensus(count: 0, keys: 0)
      {
        continue
      }
      let request = StoreFetchRequest(entity: root, result: .objectIDs)
      guard case .objectIDs(let objects) = try access.store.fetch(request) else { continue }
      var rest = objects[...]
      while !rest.isEmpty {
        let page = rest.prefix(Self.page)
        rest = rest.dropFirst(Self.page)
        let ledger = try access.ledger()
        try ledger.prefetch(page.compactMap(SyncKey.object))
        for object in page where try ledger.recordID(for: object) == nil {
          found.append(
            StoreDifference(
              kind: kind, record: nil, entity: object.entity.name ?? "",
              row: object.uriRepresentation().absoluteString))
        }
      }
    }
    return found
  }

  private static func bucket(of id: RecordID) -> Int {
    // The last bits are random, the first are time.
    Int(id.low & 0xFF)
  }

  private func summary(of access: StoreAccess) throws -> Summary {
    var summary = Summary()
    try walk(access, in: nil) { id, visited in
      summary.records += 1
      summary.links += visited.members.values.reduce(0) { $0 + $1.count }
      let digest = try visited.state.digest(with: visited.members) {
        try visited.ledger.resolve($0)
      }
      summary.buckets[Self.bucket(of: id)] += DigestSum(digest)
      guard let object = visited.object else { return }
      let root = object.entity.rootEntity.name ?? ""
      let rows = summary.rows[root] ?? RowCensus(count: 0, keys: 0)
      summary.rows[root] = RowCensus(
        count: rows.count + 1, keys: rows.keys &+ UInt64(bitPattern: object.rowKey ?? 0))
    }
    return summary
  }

  private func entries(of access: StoreAccess, in buckets: Set<Int>) throws -> [RecordID: Entry] {
    var found: [RecordID: Entry] = [:]
    try walk(access, in: buckets) { found[$0] = try entry($1) }
    return found
  }

  private func members(of access: StoreAccess) -> ComparedMembers {
    access.store === local.store ? localMembers : replicaMembers
  }

  /// The names of what a store calls otherwise.
  private func translation(of access: StoreAccess) -> SchemaTranslation? {
    access.store === replica.store ? translation : nil
  }

  /// Visits all live records in the order of their IDs.
  private func walk(
    _ access: StoreAccess, in buckets: Set<Int>?, _ visit: (RecordID, Visited) throws -> Void
  ) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.records.rawValue, from: next, to: nil, limit: Self.page)
      if page.isEmpty { return }
      let ledger = try access.ledger()
      var entries: [(id: RecordID, entry: RecordEntry)] = []
      for (key, value) in page {
        let id = try SyncKey.identity(RecordID.self, in: key)
        if let buckets, !buckets.contains(Self.bucket(of: id)) { continue }
        entries.append((id, try ledger.entry(decoding: value)))
      }
      try self.visit(entries, access, ledger, visit)
      guard page.count == Self.page, let last = page.last else { return }
      next = last.key + Data([0])
    }
  }

  /// Visits the live ones among some records.
  private func visit(
    _ entries: [(id: RecordID, entry: RecordEntry)], _ access: StoreAccess, _ ledger: Ledger,
    _ visit: (RecordID, Visited) throws -> Void
  ) throws {
    var live: [(id: RecordID, entry: RecordEntry, object: ManagedObjectID)] = []
    for (id, entry) in entries where isCompared(entry.entity, of: access) {
      if let object = ledger.objectID(for: entry) {
        live.append((id, entry, object))
      } else if access.schema.entities[entry.entity] == nil {
        try visitUnknown(id, entry, access, ledger, visit)
      }
    }
    try visitPage(live, access, ledger, visit)
  }

  private func isCompared(_ entity: String, of access: StoreAccess) -> Bool {
    guard let filter else { return true }
    return filter.names.contains(translation(of: access)?.entity(entity) ?? entity)
  }

  /// Visits a record of an entity that only a newer version of the model has.
  private func visitUnknown(
    _ id: RecordID, _ entry: RecordEntry, _ access: StoreAccess, _ ledger: Ledger,
    _ visit: (RecordID, Visited) throws -> Void
  ) throws {
    let state = entry.state(id: id, row: nil)
    guard state.isAlive(under: access.policy(of: entry.entity)) else { return }
    try visit(
      id,
      Visited(
        state: translation(of: access)?.state(state) ?? state,
        members: try members(of: access).links(of: id, ledger), ledger: ledger, object: nil))
  }

  /// The state without what may differ between equal stores.
  private func comparable(_ state: RecordState, _ ledger: Ledger) throws -> RecordState {
    var state = state
    state.deletion = nil
    for (name, register) in state.registers {
      let write = PropertyWrite(stamp: register.write.stamp)
      var value = register.value
      if let target = value.reference { value = .reference(try ledger.resolve(target)) }
      state.registers[name] = Register(value: value, write: write)
    }
    return state
  }

  private func visitPage(
    _ live: [(id: RecordID, entry: RecordEntry, object: ManagedObjectID)],
    _ access: StoreAccess, _ ledger: Ledger, _ visit: (RecordID, Visited) throws -> Void
  ) throws {
    let rows = try access.rowsOfAnyEntity(of: live.map(\.object))
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    let members = try members(of: access).members(of: live.map { ($0.id, $0.object) }, ledger)
    for (item, row) in zip(live, rows) {
      // A row that is gone without history telling: not there.
      guard let row else { continue }
      var state = item.entry.state(id: item.id, row: try reading.values(of: row))
      // What the row is, whatever the bookkeeping says.
      state.entity = row.objectID.entity.name ?? state.entity
      try visit(
        item.id,
        Visited(
          state: translation(of: access)?.state(state) ?? state, members: members[item.id] ?? [:],
          ledger: ledger, object: item.object))
    }
  }
}
