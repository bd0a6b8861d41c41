import CairnStore
import Foundation

/// Records that one commit adds to a store, of one entity and with rows that one write has filled: what the
/// bookkeeping says of them differs in two numbers only, so that it is written down by the run.
struct NewRecords {
  let entity: String
  let write: PropertyWrite
  /// The store whose state of the records this one now equals.
  let origin: StoreID?
  /// Their place in the change order.
  var sequence: UInt64
  var members: [Member] = []

  struct Member: Hashable, Sendable {
    let id: RecordID
    /// The key of the row.
    let key: Int64
  }

  /// Brings the members into the order of their rows.
  ///
  /// - Returns: False where a row comes twice, or not after a key.
  mutating func sortByKey(after last: Int64?) -> Bool {
    let isSorted = zip(members, members.dropFirst()).allSatisfy { $0.key <= $1.key }
    if !isSorted { members.sort { $0.key < $1.key } }
    guard let first = members.first, last.map({ $0 < first.key }) ?? true else { return false }
    return zip(members, members.dropFirst()).allSatisfy { $0.key < $1.key }
  }

  /// The entry of one of them.
  func entry(_ member: Member) -> RecordEntry {
    var entry = RecordEntry(entity: entity, key: .row(member.key))
    entry.base = write
    entry.sequence = sequence
    return entry
  }

  /// What puts them into the maps `sync_ids`, `sync_records` and `sync_changes`.
  ///
  /// - Parameter root: The name of the root entity.
  func operations(root: String) -> [SidecarOperation] {
    guard let first = members.first else { return [] }
    let byID = members.sorted { $0.id < $1.id }
    return [
      .putAll(ids(root: root)),
      .putAll(records(byID, like: entry(first).encoded)),
      .putAll(changes(byID)),
    ]
  }

  private func ids(root: String) -> SidecarRun {
    let prefix = [UInt8](root.utf8) + [0]
    let zeros = [UInt8](repeating: 0, count: 16)
    var run = SidecarRun(
      map: SyncMap.ids.rawValue, key: prefix + zeros.prefix(8), value: zeros,
      capacity: members.count)
    let keys = members.map { UInt64(bitPattern: $0.key) }
    let order =
      zip(keys, keys.dropFirst()).allSatisfy(<)
      ? Array(members.indices) : members.indices.sorted { keys[$0] < keys[$1] }
    for place in order {
      run.append()
      run.set(keys[place], at: prefix.count)
      run.set(members[place].id.high, at: prefix.count + 8)
      run.set(members[place].id.low, at: prefix.count + 16)
    }
    return run
  }

  private func records(_ members: [Member], like entry: Data) -> SidecarRun {
    let place = 16 + RecordEntry.placeOfRowKey(in: entity)
    var run = SidecarRun(
      map: SyncMap.records.rawValue, key: [UInt8](repeating: 0, count: 16), value: [UInt8](entry),
      capacity: members.count)
    for member in members {
      run.append()
      run.set(member.id.high, at: 0)
      run.set(member.id.low, at: 8)
      run.set(UInt64(bitPattern: member.key), at: place)
    }
    return run
  }

  private func changes(_ members: [Member]) -> SidecarRun {
    let start = [UInt8](SyncKey.number(sequence)) + [SyncKey.recordKind]
    var run = SidecarRun(
      map: SyncMap.changes.rawValue, key: start + [UInt8](repeating: 0, count: 16),
      value: origin.map { [UInt8](SyncKey.bytes($0)) } ?? [], capacity: members.count)
    for member in members {
      run.append()
      run.set(member.id.high, at: start.count)
      run.set(member.id.low, at: start.count + 8)
    }
    return run
  }
}
