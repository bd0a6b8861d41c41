// A store file that a program reads by itself, without a daemon.

import Cairn
import CairnControl
import CairnStore
import Foundation

/// Why a file cannot be read as a store.
public struct ReadOnlyStoreError: Error, Sendable, CustomStringConvertible {
  public let message: String
  /// What to do about it.
  public let hint: String
  public var description: String { message }
}

/// A store of any built-in type, opened read-only with the model that fits it.
///
/// Any thread may use it; objects belong to the contexts that ``context()`` makes.
public struct ReadOnlyStore: Sendable {
  public let url: URL
  /// `SQLite`, `XML`, `Binary` or `PostgreSQL`.
  public let type: String
  public let coordinator: PersistentStoreCoordinator

  /// Opens a store, without migrating it.
  ///
  /// Rows are never changed. SQLite itself may make a `-shm` file beside a store whose write-ahead log is
  /// in use: readers and writers agree there about what may be read.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - modelPath: Its model, of any kind; of a package with versions, the one that fits is taken. Nil
  ///     for the model that a SQLite store keeps inside.
  /// - Throws: ``ReadOnlyStoreError``, or `ModelFileError` for a model that cannot be read.
  public init(path: String, model modelPath: String?) throws {
    try self.init(url: URL(fileURLWithPath: path)) { url, type in
      try Self.model(modelPath, for: url, type: type)
    }
  }

  /// Opens a store with a model that is known to fit it.
  ///
  /// - Throws: ``ReadOnlyStoreError``.
  public init(_ location: StoreLocation, using model: ManagedObjectModel) throws {
    try self.init(
      url: location.url, type: location.type, options: location.openingOptions()
    ) { _, _ in model }
  }

  /// Opens a store once more that is open already, whatever kind it is of.
  ///
  /// - Throws: ``ReadOnlyStoreError``.
  public init(
    _ store: PersistentStore, using model: ManagedObjectModel, options: [AnyHashable: Any] = [:]
  ) throws {
    guard let url = store.url else {
      throw ReadOnlyStoreError(
        message: "a store without a place is opened once", hint: "name a store with a file")
    }
    // How a database is reached is among them; a file needs none of those that it is written with.
    let known: [AnyHashable: Any] = url.isFileURL ? [:] : store.options ?? [:]
    try self.init(url: url, type: store.type, options: known.merging(options) { $1 }) { _, _ in
      model
    }
  }

  private init(
    url: URL, type known: String? = nil, options: [AnyHashable: Any] = [:],
    _ model: (URL, String) throws -> ManagedObjectModel
  ) throws {
    self.url = url
    do {
      type = try known ?? Self.type(of: url.path)
      let model = try model(url, type)
      coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url,
        // Of a store that is not written to, history is read where there is one, and none is begun.
        options: options.merging(
          [StoreOptionKey.readOnly: true, StoreOptionKey.historyTracking: true]) { $1 })
    } catch let error as CoreDataError {
      throw ReadOnlyStoreError(
        // What tells of a database names it.
        message: url.isFileURL ? "\(url.path): \(error.message)" : error.message,
        hint: error.code == .persistentStoreIncompatibleVersionHash
          ? "name the model that the store was made with by --model"
          : "see what is there and who may read it: ls -ld \(ShellWord.path(url.path))")
    }
  }

  /// A context that sees the store as it is now, also when other programs write to it.
  public func context() -> ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
    context.stalenessInterval = 0
    return context
  }

  /// The type by the file's first bytes.
  ///
  /// - Throws: ``ReadOnlyStoreError`` for what is no file of a store.
  public static func type(of path: String) throws -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ReadOnlyStoreError(
        message: "\(path): there is no such file", hint: "name the store's file itself")
    }
    let kind =
      try? FileManager.default.attributesOfItem(
        atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)[.type]
      as? FileAttributeType
    guard !isFolder.boolValue, kind == .typeRegular else {
      throw ReadOnlyStoreError(
        message: "\(path) is \(isFolder.boolValue ? "a folder" : "no regular file")",
        hint: "name the store's file itself")
    }
    let head: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      head = try file.read(upToCount: 64) ?? Data()
    } catch {
      throw ReadOnlyStoreError(message: "\(path) cannot be read", hint: "check who may read it")
    }
    if head.starts(with: Data("SQLite format 3\0".utf8)) { return StoreTypeName.sqlite }
    if head.starts(with: Data("<?xml".utf8)) { return StoreTypeName.xml }
    if head.isEmpty {
      throw ReadOnlyStoreError(
        message: "\(path) is empty", hint: "a store that was opened once is not")
    }
    if head.starts(with: Data("CairnBinaryStore".utf8)) || head.starts(with: Data("bplist".utf8)) {
      return StoreTypeName.binary
    }
    let isText = head.allSatisfy { (0x20...0x7e).contains($0) || [9, 10, 13].contains($0) }
    throw ReadOnlyStoreError(
      message: "\(path) is not an SQLite database, \(isText ? "" : "or an encrypted one, ")"
        + "nor an XML or binary store", hint: "name the store's file itself")
  }

  private static func model(
    _ path: String?, for url: URL, type: String
  ) throws -> ManagedObjectModel {
    if let path {
      let file = URL(fileURLWithPath: path)
      if ["xcdatamodeld", "momd"].contains(file.pathExtension) {
        let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
          ofType: type, at: url)
        let package = try ModelPackage(contentsOf: file)
        return try package.model(matchingStoreMetadata: metadata) ?? package.currentModel()
      }
      return try ManagedObjectModel.load(contentsOf: file)
    }
    guard type == StoreTypeName.sqlite else {
      // What is no store needs no model.
      do {
        _ = try PersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
      } catch let error as CoreDataError {
        throw ReadOnlyStoreError(message: error.message, hint: "name the store's file itself")
      }
      throw ReadOnlyStoreError(
        message: "\(url.path) keeps no model inside: \(type) stores do not",
        hint: "name its model with --model")
    }
    guard let model = try ManagedObjectModel.load(fromSQLiteStoreAt: url) else {
      throw ReadOnlyStoreError(
        message: "\(url.path) keeps no model inside", hint: "name its model with --model")
    }
    return model
  }
}
