import CairnStore
import Foundation

/// A kind of store that is another one in all but its class: one of the test's own, which adds to that of the other.
public struct DerivedStoreKind: StoreKind {
  private let base: any StoreKind
  public let storeClass: PersistentStore.Type

  public init(of base: any StoreKind, storeClass: PersistentStore.Type) {
    self.base = base
    self.storeClass = storeClass
  }

  public var type: String { base.type }
  public var keepsFiles: Bool { base.keepsFiles }
  public var claimsURL: Bool { base.claimsURL }
  public var fileChecking: (any FileChecking)? { base.fileChecking }

  public func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    try base.metadata(at: url, options: options)
  }
  public func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws {
    try base.setMetadata(metadata, at: url, options: options)
  }
  public func destroy(at url: URL, options: StoreOptions) throws {
    try base.destroy(at: url, options: options)
  }
  public func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws {
    try base.replace(at: destination, withStoreAt: source, options: options)
  }
}
