import CairnStore
import Foundation

/// How far the digests of a store go.
struct DigestState: Hashable, Sendable {
  enum Extent: Hashable, Sendable {
    /// Records up to the key are counted, and no links.
    case records(before: Data)
    /// All records, and links up to the key.
    case links(before: Data)
    case all
  }
  /// The digest of the ``SchemaNames`` in which they were made.
  let names: UInt64
  var extent: Extent

  /// Whether an entry of `sync_records` or `sync_links` is counted.
  func counts(_ key: SidecarKey) -> Bool {
    switch extent {
    case .all: return true
    case .records(let end):
      return key.map == SyncMap.records.rawValue && key.key.lexicographicallyPrecedes(end)
    case .links(let end):
      return key.map == SyncMap.records.rawValue || key.key.lexicographicallyPrecedes(end)
    }
  }

  init(names: UInt64, extent: Extent) {
    self.names = names
    self.extent = extent
  }

  // Bytes: version 1 · names 8 · 0 records, 1 links, 2 all · [key]
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.fixed(names)
    switch extent {
    case .records(let end):
      writer.byte(0)
      writer.bytes(end)
    case .links(let end):
      writer.byte(1)
      writer.bytes(end)
    case .all: writer.byte(2)
    }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    names = try reader.fixed()
    switch try reader.byte() {
    case 0: extent = .records(before: try reader.data())
    case 1: extent = .links(before: try reader.data())
    case 2: extent = .all
    default: throw ByteReader.damaged
    }
  }
}
