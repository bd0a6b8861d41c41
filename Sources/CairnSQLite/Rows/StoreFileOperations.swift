import CairnPlatform
import CairnStore
import Foundation

/// What a store does to files that SQLite does not write for it: those of external data and whole
/// stores.
///
/// Tests put one that fails on demand in its place, with the option ``StoreOptions/fileOperations``.
package protocol StoreFileOperations: Sendable {
  /// Makes a folder and those above it; none is there yet, or some.
  func makeFolder(_ url: URL) throws
  /// Writes a file that is not there yet.
  func write(_ data: Data, to file: URL) throws
  func copy(_ file: URL, to copy: URL) throws
  /// Gives a file another name, which is that of no file, in its folder.
  func move(_ file: URL, to name: URL) throws
  /// Returns once the contents of a file are on the disk.
  func synchronize(file: URL) throws
  /// Returns once the names in a folder are on the disk.
  func synchronize(folder: URL) throws
  func exists(_ file: URL) -> Bool
  /// The contents of a file; nil when there is none.
  func read(_ file: URL) throws -> Data?
  /// Removes a file, or a folder with what is in it; nothing happens when there is none.
  func remove(_ url: URL) throws
}

extension StoreFileOperations {
  package func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }
}

/// The file system.
package struct SystemFileOperations: StoreFileOperations {
  package init() {}

  package func makeFolder(_ url: URL) throws {
    let above = url.deletingLastPathComponent()
    if exists(above) { _ = try GuardedFolder(above.path, steps: 1) }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  package func write(_ data: Data, to file: URL) throws {
    let made = try Self.folder(of: file).makeFile(file.lastPathComponent)
    try Self.handle(made).write(contentsOf: data)
  }

  package func copy(_ file: URL, to copy: URL) throws {
    guard let source = try Self.folder(of: file).file(file.lastPathComponent) else {
      throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: file.path])
    }
    let made = try Self.folder(of: copy).makeFile(copy.lastPathComponent)
    let (reading, writing) = (Self.handle(source), Self.handle(made))
    while let part = try reading.read(upToCount: 1 << 20), !part.isEmpty {
      try writing.write(contentsOf: part)
    }
    let facts = try FileManager.default.attributesOfItem(atPath: file.path)
    if let mode = facts[.posixPermissions] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: copy.path)
    }
  }

  package func move(_ file: URL, to name: URL) throws {
    _ = try Self.folder(of: file)
    try FileManager.default.moveItem(at: file, to: name)
  }

  package func synchronize(file: URL) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.synchronize()
    try handle.close()
  }

  package func synchronize(folder: URL) throws {
    try AtomicFileWrite.synchronize(folder: folder.path)
  }

  package func read(_ file: URL) throws -> Data? {
    do {
      guard let opened = try Self.folder(of: file).file(file.lastPathComponent) else { return nil }
      return try Self.handle(opened).readToEnd() ?? Data()
    } catch let error as PlatformError where error.code == .notFound {
      return nil
    }
  }

  /// The folder that a file of external data is in: it and the one above are in a place of the store's
  /// owner, who may be another user.
  private static func folder(of file: URL) throws -> GuardedFolder {
    try GuardedFolder(file.deletingLastPathComponent().path, steps: 2)
  }

  private static func handle(_ file: OwnedDescriptor) -> FileHandle {
    FileHandle(fileDescriptor: file.release(), closeOnDealloc: true)
  }

  package func remove(_ url: URL) throws {
    do {
      // The store's folders themselves are removed too: of a link, the link goes.
      if url.deletingLastPathComponent().lastPathComponent == ExternalDataFiles.folderName {
        _ = try Self.folder(of: url)
      }
      try FileManager.default.removeItem(at: url)
    } catch let error as CocoaError where error.code == .fileNoSuchFile {
      return
    } catch let error as PlatformError where error.code == .notFound {
      return
    }
  }
}

extension StoreOptions {
  /// The key of an option for tests: ``StoreFileOperations`` in place of the file system.
  package static let fileOperationsKey = "CairnFileOperations"

  /// How files that SQLite does not write are written.
  package var fileOperations: any StoreFileOperations {
    dictionary[Self.fileOperationsKey] as? any StoreFileOperations ?? SystemFileOperations()
  }
}
