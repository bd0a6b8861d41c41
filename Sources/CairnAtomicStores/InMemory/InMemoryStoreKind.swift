import CairnStore
import Foundation

/// Stores that live in memory only: every one that is opened is new and empty.
public struct InMemoryStoreKind: StoreKind {
  public init() {}

  public var type: String { StoreTypeName.inMemory }
  public var storeClass: PersistentStore.Type { InMemoryStore.self }
  public var keepsFiles: Bool { false }

  public func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    throw Self.noFile("metadata")
  }

  public func setMetadata(
    _ metadata: [String: Any], at url: URL, options: StoreOptions
  ) throws {
    throw Self.noFile("metadata")
  }

  /// There is nothing to destroy.
  public func destroy(at url: URL, options: StoreOptions) throws {}

  public func replace(
    at destination: URL, withStoreAt source: URL, options: StoreOptions
  ) throws {
    throw Self.noFile("copy")
  }

  private static func noFile(_ what: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreOperation,
      "A store of type \(StoreTypeName.inMemory) has no file, hence no \(what) outside the "
        + "coordinator that opened it.")
  }
}
