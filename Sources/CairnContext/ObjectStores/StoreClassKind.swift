@_spi(Stores) import CairnCoordinator
import CairnStore
import Foundation

/// A class of stores as a kind of store: what
/// ``PersistentStoreCoordinator/registerStoreClass(_:forStoreType:)`` registers.
public struct StoreClassKind: StoreKind {
  public let type: String
  public let storeClass: PersistentStore.Type
  public let keepsFiles: Bool

  /// A class under a type.
  ///
  /// - Parameter keepsFiles: Whether the coordinator looks at the file, with the class's
  ///   `metadataForPersistentStore(with:)`, before it makes the store. Without, it asks the store's
  ///   metadata once they are loaded.
  public init(_ storeClass: PersistentStore.Type, type: String, keepsFiles: Bool = false) {
    self.storeClass = storeClass
    self.type = type
    self.keepsFiles = keepsFiles
  }

  public var claimsURL: Bool { true }
  public var isOfProgram: Bool { storeClass is ObjectStore.Type }

  public func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    try storeClass.metadataForPersistentStore(with: url)
  }

  public func setMetadata(
    _ metadata: [String: Any], at url: URL, options: StoreOptions
  ) throws {
    try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
  }

  /// Deletes the file of a store that is one file.
  public func destroy(at url: URL, options: StoreOptions) throws {
    try checkIsFile(url, to: "destroy")
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    if !options.flag(StoreOptionKey.forceDestroy) { _ = try metadata(at: url, options: options) }
    try FileManager.default.removeItem(at: url)
  }

  /// Copies the file of a store that is one file.
  public func replace(
    at destination: URL, withStoreAt source: URL, options: StoreOptions
  ) throws {
    try checkIsFile(source, to: "copy")
    try checkIsFile(destination, to: "replace")
    _ = try metadata(at: source, options: options)
    try Data(contentsOf: source).write(to: destination, options: .atomic)
  }

  public func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> (any StoreHold)? {
    UnchangedContent(of: store, for: replacement, kind: self, options)
  }

  private func checkIsFile(_ url: URL, to what: String) throws {
    guard url.isFileURL, storeClass is AtomicStore.Type else {
      throw CoreDataError(
        .persistentStoreOperation,
        "Nothing is known about how to \(what) a store of type \(type) that is not open.",
        userInfo: [NSURLErrorKey: url])
    }
  }
}

extension PersistentStoreCoordinator {
  /// Makes a class of stores known to all coordinators of the process, under a type; nil forgets
  /// the type.
  ///
  /// The class is a subclass of ``AtomicStore`` or ``IncrementalStore``; another one traps.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else {
      unregisterStoreKind(ofType: storeType)
      return
    }
    guard let type = storeClass as? PersistentStore.Type else {
      // A class is named in the program's source.
      fatalError(
        "\(storeClass) is no store: register a subclass of AtomicStore or IncrementalStore.")
    }
    registerStoreKind(StoreClassKind(type, type: storeType))
  }

  /// The same with a typed store type.
  public class func registerStoreClass(
    _ storeClass: AnyClass?, type: PersistentStore.StoreType
  ) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }
}
