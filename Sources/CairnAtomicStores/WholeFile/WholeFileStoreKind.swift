import CairnStore
import Foundation

/// The kinds of store that are one file, and what can be done to the file while it is closed.
protocol WholeFileStoreKind: StoreKind {
  var format: any WholeFileFormat { get }
}

extension WholeFileStoreKind {
  public var type: String { format.type }

  public func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    let file = WholeFile(url: url)
    let data = try file.read()
    // At the null device, which keeps nothing, there is none.
    return data.isEmpty ? [:] : try format.metadata(of: data, path: file.path)
  }

  public func setMetadata(
    _ metadata: [String: Any], at url: URL, options: StoreOptions
  ) throws {
    let file = WholeFile(url: url)
    let facts = file.facts
    let data = try file.read()
    try file.write(
      try format.data(of: data, path: file.path, withMetadata: metadata), replacing: facts)
  }

  /// Deletes the file; what is no such store only with the option to force it.
  public func destroy(at url: URL, options: StoreOptions) throws {
    let file = WholeFile(url: url)
    guard file.exists else { return }
    if !options.flag(StoreOptionKey.forceDestroy) { _ = try metadata(at: url, options: options) }
    try file.remove()
  }

  public func replace(
    at destination: URL, withStoreAt source: URL, options: StoreOptions
  ) throws {
    let file = WholeFile(url: source)
    let data = try file.read()
    _ = try format.metadata(of: data, path: file.path)
    try WholeFile(url: destination).write(data)
  }
}

/// XML stores as coordinators know them.
public struct XMLStoreKind: WholeFileStoreKind {
  public init() {}
  public var storeClass: PersistentStore.Type { XMLStore.self }
  var format: any WholeFileFormat { XMLStoreFormat() }
}

/// Binary stores as coordinators know them.
public struct BinaryStoreKind: WholeFileStoreKind {
  public init() {}
  public var storeClass: PersistentStore.Type { BinaryStore.self }
  var format: any WholeFileFormat { BinaryStoreFormat() }
}
