import CairnStore
import Foundation

/// Gives what one commit is about to write later places in the change order, because others have
/// taken those that it was planned with.
struct SequenceShift {
  /// The last number before those of the commit.
  private let base: UInt64
  private let distance: UInt64

  init(after base: UInt64, by distance: UInt64) {
    self.base = base
    self.distance = distance
  }

  func callAsFunction(_ sequence: UInt64) -> UInt64 {
    sequence > base ? sequence + distance : sequence
  }

  /// The entries with later numbers in keys and values.
  func entries(_ entries: [SidecarKey: Data?]) throws -> [SidecarKey: Data?] {
    if distance == 0 { return entries }
    var shifted: [SidecarKey: Data?] = [:]
    shifted.reserveCapacity(entries.count)
    for (key, value) in entries {
      let (newKey, newValue) = try entry(key, value)
      shifted[newKey] = .some(newValue)
    }
    return shifted
  }

  private func entry(_ key: SidecarKey, _ value: Data?) throws -> (SidecarKey, Data?) {
    switch SyncMap(rawValue: key.map) {
    case .records:
      return (
        key,
        try value.map {
          var entry = try RecordEntry(decoding: $0)
          entry.sequence = self(entry.sequence)
          return entry.encoded
        }
      )
    case .links:
      return (
        key,
        try value.map {
          var entry = try LinkEntry(decoding: $0)
          entry.sequence = self(entry.sequence)
          return entry.encoded
        }
      )
    case .changes: return (try change(key), value)
    case .meta, .ids, .backlinks, .cursors, .parked, .quarantine, .journal, .journalIndex, .own,
      .marks, .readers, .digests, .births, nil:
      return (key, value)
    }
  }

  private func change(_ key: SidecarKey) throws -> SidecarKey {
    var reader = ByteReader(key.key)
    let sequence = try reader.fixed()
    return SyncMap.changes.key(SyncKey.number(self(sequence)) + key.key.dropFirst(8))
  }
}
