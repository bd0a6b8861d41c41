// Where the self-test makes its stores.
import CairnControl
import CairnPlatform
import Foundation

/// A folder of its own on the disk to be tried, and one for the socket.
struct DrillFolder {
  /// What the stores, their logs and a backup of the log need at most.
  static let room = 64 << 20 + DrillPower.size

  let path: String
  /// File systems that hold stores need not hold sockets, and names of sockets are short.
  let socketFolder: String

  /// - Throws: ``CommandFailure`` where nothing can be made there; nothing is left then.
  init(in parent: String) throws {
    let place = URL(fileURLWithPath: parent).resolvingSymlinksInPath().path
    guard let facts = try? FileFacts(path: place) else {
      throw CommandFailure(message: "there is no folder \(parent)", hint: "name one by --folder")
    }
    guard facts.isFolder else {
      throw CommandFailure(message: "\(parent) is no folder", hint: "name one by --folder")
    }
    try Self.checkRoom(in: place)
    let name = "cairn-self-test-\(UUID().uuidString.prefix(8).lowercased())"
    path = "\(place)/\(name)"
    socketFolder =
      FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-socket")
      .path
    try Self.make(path, option: "--folder")
    do {
      try Self.make(socketFolder, option: "TMPDIR")
    } catch {
      remove()
      throw error
    }
  }

  private static func make(_ path: String, option: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        message: "the folder \(path) cannot be made: \(error.localizedDescription)",
        hint: "name a folder that this user may write to by \(option)")
    }
  }

  /// - Throws: ``CommandFailure`` where less than ``room`` is free.
  static func checkRoom(in folder: String) throws {
    let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder)
    guard let free = (facts?[.systemFreeSize] as? NSNumber)?.intValue, free < room else { return }
    throw CommandFailure(
      message:
        "\(Readable.bytes(room)) are needed in \(folder), and \(Readable.bytes(free)) are free",
      hint: "make room there (`df -h`), or name another folder by --folder")
  }

  /// Takes both away with all that is in them.
  func remove() {
    Self.remove(path)
    removeSocketFolder()
  }

  func removeSocketFolder() { Self.remove(socketFolder) }

  /// How often the same is tried with stores that writers held a moment ago: they take their logs away
  /// as they close, which trips what goes through their folder.
  private static let attempts = 100

  /// Copies a folder with all that is in it.
  static func copy(_ path: String, to copy: String) throws {
    for attempt in 1...attempts {
      do {
        return try FileManager.default.copyItem(atPath: path, toPath: copy)
      } catch {
        if attempt == attempts { throw error }
        remove(copy)
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  static func remove(_ path: String) {
    for _ in 0..<attempts {
      try? FileManager.default.removeItem(atPath: path)
      guard FileManager.default.fileExists(atPath: path) else { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }
}
