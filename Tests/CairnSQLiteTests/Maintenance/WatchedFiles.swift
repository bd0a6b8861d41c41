// The files of external data, with something happening just after one of them was
// written, or before one is read or looked for.

import Foundation

@testable import CairnSQLite

/// The file system; calls back when a file has been written and before anything names it, and when
/// one is about to be read or looked for.
struct WatchedFiles: StoreFileOperations {
  private let system = SystemFileOperations()
  let didWrite: @Sendable (URL) throws -> Void
  var willRead: @Sendable (URL) throws -> Void = { _ in }
  var willLook: @Sendable (URL) -> Void = { _ in }

  func makeFolder(_ url: URL) throws { try system.makeFolder(url) }
  func write(_ data: Data, to file: URL) throws {
    try system.write(data, to: file)
    try didWrite(file)
  }
  func copy(_ file: URL, to copy: URL) throws {
    try system.copy(file, to: copy)
    try didWrite(copy)
  }
  func move(_ file: URL, to name: URL) throws {
    try system.move(file, to: name)
    try didWrite(name)
  }
  func synchronize(file: URL) throws { try system.synchronize(file: file) }
  func synchronize(folder: URL) throws { try system.synchronize(folder: folder) }
  func exists(_ file: URL) -> Bool {
    willLook(file)
    return FileManager.default.fileExists(atPath: file.path)
  }
  func read(_ file: URL) throws -> Data? {
    try willRead(file)
    return try system.read(file)
  }
  func remove(_ url: URL) throws { try system.remove(url) }
}
