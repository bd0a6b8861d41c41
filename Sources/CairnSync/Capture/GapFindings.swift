import CairnStore
import Foundation

/// What a comparison found in one of two stores that both lost history, kept in it until it takes that.
///
/// The two take their values in a commit each. The one that is first has then written over what both knew, and
/// another comparison would not find any more what the second has: a daemon that dies in between finds it here.
struct GapFindings {
  /// The store with which the comparison was made.
  let other: StoreID
  /// By record, what differs, with the write under which it does; nil for members of a relationship.
  private(set) var records: [RecordID: [String: Stamp?]] = [:]

  init(_ unwritten: [RecordID: Set<String>], against other: StoreID, in ledger: Ledger) throws {
    self.other = other
    try ledger.prefetch(records: Array(unwritten.keys))
    for (id, names) in unwritten {
      guard let entry = try ledger.record(id) else { continue }
      let columns = ledger.schema.entities[entry.entity]?.names
      records[id] = Dictionary(
        uniqueKeysWithValues: names.map { name in
          (name, columns?.place(of: name) == nil ? nil : entry.write(of: name)?.stamp)
        })
    }
  }

  private init(other: StoreID) { self.other = other }

  func keep(in ledger: Ledger) {
    for (id, properties) in records {
      ledger.put(SyncKey.gapFinding(id, against: other), Self.encoded(properties))
    }
  }

  func remove(from ledger: Ledger) {
    for id in records.keys { ledger.put(SyncKey.gapFinding(id, against: other), nil) }
  }

  /// Those of the properties that no one has written since.
  func unwritten(in ledger: Ledger) throws -> [RecordID: Set<String>] {
    try ledger.prefetch(records: Array(records.keys))
    var found: [RecordID: Set<String>] = [:]
    for (id, properties) in records {
      guard let entry = try ledger.record(id) else { continue }
      let names = properties.filter {
        $0.value == nil || entry.write(of: $0.key)?.stamp == $0.value
      }
      if !names.isEmpty { found[id] = Set(names.keys) }
    }
    return found
  }

  /// All that a store has yet to take.
  ///
  /// - Parameter other: The store against which it was found; nil for whichever.
  static func kept(in store: PersistentStore, against other: StoreID? = nil) throws -> [Self] {
    guard let sidecar = store.capabilities.sidecar else { return [] }
    let prefix = SyncKey.gapFindings(against: other)
    let entries = try sidecar.sidecarEntries(
      of: SyncMap.meta.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0)
    var found: [StoreID: Self] = [:]
    for entry in entries {
      var reader = ByteReader(entry.key.dropFirst(SyncKey.gapFindings(against: nil).count))
      let other = try reader.identity(StoreID.self)
      let id = try reader.identity(RecordID.self)
      found[other, default: Self(other: other)].records[id] = try properties(in: entry.value)
    }
    return found.values.sorted { $0.other < $1.other }
  }

  // Bytes: by property: name string · 0, 1 stamp 24
  private static func encoded(_ properties: [String: Stamp?]) -> Data {
    var writer = ByteWriter()
    for (name, stamp) in properties.sorted(by: { $0.key < $1.key }) {
      writer.string(name)
      writer.byte(stamp == nil ? 0 : 1)
      if let stamp { writer.stamp(stamp) }
    }
    return writer.data
  }

  private static func properties(in data: Data) throws -> [String: Stamp?] {
    var reader = ByteReader(data)
    var found: [String: Stamp?] = [:]
    while !reader.isAtEnd {
      let name = try reader.string()
      found[name] = .some(try reader.byte() == 0 ? nil : try reader.stamp())
    }
    return found
  }
}
