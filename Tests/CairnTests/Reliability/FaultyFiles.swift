// The files that a store writes without SQLite, going wrong together with those of its fault folder.

import CFaultVFS
import CairnSQLite
import CairnTesting
import Foundation
import Synchronization

/// The file system, with the faults of a ``FaultFolder``: its operations are counted along with
/// SQLite's, and what was not synced is lost when the power goes.
final class FaultyFiles: StoreFileOperations {
  private let system = SystemFileOperations()
  private let number: Int32
  private let root: URL

  /// A name that a folder got or lost and that was not synced.
  private enum Name {
    case new(URL)
    /// With the contents that are gone.
    case gone(URL, Data)

    var folder: String {
      switch self {
      case .new(let url), .gone(let url, _): url.deletingLastPathComponent().path
      }
    }
  }
  private struct Unsynced {
    var remembers = false
    var names: [Name] = []
    var files: Set<String> = []
  }
  private let unsynced = Mutex(Unsynced())

  init(number: Int32, root: URL) {
    self.number = number
    self.root = root
  }

  // MARK: Operations

  private enum Outcome { case works, fails, tears }

  /// Counts a step.
  private func step(_ kind: Int) throws -> Outcome {
    switch Int(cfault_step(number, UInt32(kind))) {
    case CFAULT_WORKS: return .works
    case CFAULT_TEARS where kind == CFAULT_WRITE: return .tears
    case CFAULT_FULL: throw NSError(domain: NSPOSIXErrorDomain, code: 28)
    default: throw NSError(domain: NSPOSIXErrorDomain, code: 5)
    }
  }

  private func note(_ name: Name, unsynced file: URL? = nil) {
    unsynced.withLock { unsynced in
      guard unsynced.remembers else { return }
      unsynced.names.append(name)
      if let file { unsynced.files.insert(file.path) }
    }
  }

  func makeFolder(_ url: URL) throws {
    _ = try step(CFAULT_OPEN)
    var missing: [URL] = []
    var folder = url
    while !FileManager.default.fileExists(atPath: folder.path) {
      missing.append(folder)
      folder = folder.deletingLastPathComponent()
    }
    try system.makeFolder(url)
    for folder in missing.reversed() { note(.new(folder)) }
  }

  func write(_ data: Data, to file: URL) throws {
    _ = try step(CFAULT_OPEN)
    note(.new(file), unsynced: file)
    switch try step(CFAULT_WRITE) {
    case .works: try system.write(data, to: file)
    case .tears:
      try system.write(data.prefix(data.count / 2), to: file)
      throw NSError(domain: NSPOSIXErrorDomain, code: 5)
    case .fails: break
    }
  }

  func copy(_ file: URL, to copy: URL) throws {
    guard let data = try read(file) else { throw CocoaError(.fileReadNoSuchFile) }
    try write(data, to: copy)
  }

  func move(_ file: URL, to name: URL) throws {
    _ = try step(CFAULT_WRITE)
    let data = try Data(contentsOf: file)
    try system.move(file, to: name)
    unsynced.withLock { unsynced in
      guard unsynced.remembers else { return }
      unsynced.names += [.gone(file, data), .new(name)]
      if unsynced.files.remove(file.path) != nil { unsynced.files.insert(name.path) }
    }
  }

  func synchronize(file: URL) throws {
    _ = try step(CFAULT_SYNC)
    unsynced.withLock { _ = $0.files.remove(file.path) }
  }

  func synchronize(folder: URL) throws {
    _ = try step(CFAULT_SYNC)
    unsynced.withLock { $0.names.removeAll { $0.folder == folder.path } }
    if folder.path == root.path { cfault_folder_synced(number) }
  }

  func read(_ file: URL) throws -> Data? {
    _ = try step(CFAULT_READ)
    return try system.read(file)
  }

  func remove(_ url: URL) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    _ = try step(CFAULT_DELETE)
    for file in Self.files(in: url) {
      note(.gone(file, (try? Data(contentsOf: file)) ?? Data()))
    }
    try system.remove(url)
  }

  /// The files of a folder and those of its folders; a file alone.
  private static func files(in url: URL) -> [URL] {
    guard let names = try? FileManager.default.subpathsOfDirectory(atPath: url.path) else {
      return [url]
    }
    return names.map { url.appendingPathComponent($0) }.filter { file in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  // MARK: Power

  func rememberUnsynced() { unsynced.withLock { $0 = Unsynced(remembers: true) } }

  /// Takes back what was not synced; with a seed, the first of it is there.
  func restore(seed: UInt64) throws {
    let state = unsynced.withLock { unsynced in
      defer { unsynced = Unsynced() }
      return unsynced
    }
    for path in state.files.sorted() where FileManager.default.fileExists(atPath: path) {
      try Data().write(to: URL(fileURLWithPath: path))
    }
    var numbers = SeededNumbers(seed: seed)
    let kept = seed == 0 ? 0 : Int.random(in: 0...state.names.count, using: &numbers)
    for name in state.names.dropFirst(kept).reversed() {
      switch name {
      case .new(let url): try system.remove(url)
      case .gone(let url, let data):
        try system.makeFolder(url.deletingLastPathComponent())
        try data.write(to: url)
      }
    }
  }
}
