import CairnPlatform
import CairnStore
import Foundation
import Synchronization

/// The files beside a store that hold large values of attributes which allow that.
///
/// For `App.sqlite` they are in `.App_SUPPORT/_EXTERNAL_DATA`, each named by a UUID. The column
/// says which: tag 1 and the data itself, or tag 2, the file's name and a NUL byte.
struct ExternalDataFiles: Sendable {
  /// Larger values go to a file.
  static let threshold = 100_000
  static let inlineTag: UInt8 = 1
  static let fileTag: UInt8 = 2
  static let folderName = "_EXTERNAL_DATA"

  /// What never changes, in one object: each read of a row has a copy.
  private final class Place: Sendable {
    let supportFolder: URL
    let operations: any StoreFileOperations

    init(supportFolder: URL, operations: any StoreFileOperations) {
      self.supportFolder = supportFolder
      self.operations = operations
    }
  }
  private let place: Place
  /// The support folder of the store.
  var supportFolder: URL { place.supportFolder }
  var operations: any StoreFileOperations { place.operations }
  /// Where a read notes that a file could not be read or was missing; nil when no caller asks.
  var trouble: FileReadTrouble?
  var folder: URL { supportFolder.appendingPathComponent(Self.folderName, isDirectory: true) }

  init(store: URL, options: StoreOptions = StoreOptions()) {
    let name = store.deletingPathExtension().lastPathComponent
    let folder = store.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    place = Place(supportFolder: folder, operations: options.fileOperations)
  }

  /// The data that a column stands for; nil when its file is missing.
  func data(ofColumn bytes: Data) -> Data? {
    guard let tag = bytes.first else { return bytes }
    switch tag {
    case Self.inlineTag: return Data(bytes.dropFirst())
    case Self.fileTag:
      return Self.fileName(ofColumn: bytes).flatMap(data(ofFile:))
    // Written before the attribute allowed external storage.
    default: return bytes
    }
  }

  /// The contents of a file; nil when it is missing or cannot be read.
  func data(ofFile name: String) -> Data? {
    do {
      let data = try contents(ofFile: name)
      if data == nil { trouble?.noteMissing(name) }
      return data
    } catch {
      trouble?.note(error)
      return nil
    }
  }

  /// The contents of a file; nil when it is missing.
  func contents(ofFile name: String) throws -> Data? {
    let file = folder.appendingPathComponent(name)
    do {
      return try operations.read(file)
    } catch {
      throw CoreDataError(
        .persistentStoreOperation,
        "A large value could not be read from \(file.path). Check the folder's permissions and the "
          + "disk, and that no link stands in the place of the file or its folder.",
        userInfo: [NSFilePathErrorKey: file.path], underlyingError: error)
    }
  }

  /// The name of the file a column names; nil for inline data and for what is not a file name.
  static func fileName(ofColumn bytes: Data) -> String? {
    guard bytes.first == fileTag, bytes.count >= 37 else { return nil }
    let name = String(decoding: bytes.dropFirst().prefix(36), as: UTF8.self)
    return UUID(uuidString: name).map(\.uuidString)
  }

  /// What to store in the column for some data, and the file that was written for it, if any.
  func column(for data: Data) throws -> (bytes: Data, file: String?) {
    guard data.count > Self.threshold else { return (Data([Self.inlineTag]) + data, nil) }
    let name = UUID().uuidString
    do {
      try makeFolder()
      let file = folder.appendingPathComponent(name)
      try operations.write(data, to: file)
      try operations.synchronize(file: file)
      // The row that will name the file must not outlast the file's own name.
      try operations.synchronize(folder: folder)
    } catch {
      remove([name])
      throw Self.isOutOfSpace(error)
        ? CoreDataError(
          .fileWriteOutOfSpace,
          "A large value could not be written to \(folder.path): the disk is full. Nothing was "
            + "saved; make room and try again.",
          userInfo: [NSFilePathErrorKey: folder.path], underlyingError: error)
        : CoreDataError(
          .persistentStoreSave,
          "A large value could not be written to \(folder.path). Check the folder's permissions "
            + "and the disk; nothing was saved.",
          userInfo: [NSFilePathErrorKey: folder.path], underlyingError: error)
    }
    return (Data([Self.fileTag]) + Data(name.utf8) + Data([0]), name)
  }

  /// Folders whose names this process has made durable.
  private static let durableFolders = Mutex<Set<String>>([])

  /// Makes the folder, names included, durable.
  func makeFolder() throws {
    let isThere = FileManager.default.fileExists(atPath: folder.path)
    if isThere, Self.durableFolders.withLock({ $0.contains(folder.path) }) { return }
    if !isThere { try operations.makeFolder(folder) }
    // The process that made it may have ended before this.
    try operations.synchronize(folder: supportFolder)
    try operations.synchronize(folder: supportFolder.deletingLastPathComponent())
    _ = Self.durableFolders.withLock { $0.insert(folder.path) }
  }

  static func isOutOfSpace(_ error: any Error) -> Bool {
    if let error = error as? PlatformError { return error.code.isOutOfSpace }
    let error = error as NSError
    if error.domain == NSCocoaErrorDomain, error.code == CocoaError.fileWriteOutOfSpace.rawValue {
      return true
    }
    if error.domain == NSPOSIXErrorDomain, let code = Int32(exactly: error.code),
      ErrnoCode(rawValue: code).isOutOfSpace
    {
      return true
    }
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error).map(isOutOfSpace) ?? false
  }

  /// Removes files that no column names any more.
  ///
  /// A file that stays is harmless; ``StoreCheck`` tells of it.
  func remove(_ names: [String]) {
    for name in names { try? operations.remove(folder.appendingPathComponent(name)) }
  }
}
