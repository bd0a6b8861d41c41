// A file system of the self-test's own, which loses its power.
import CairnPlatform
import Foundation

/// A file system in a file on the disk to be tried, mounted where no other process sees it.
final class DrillPower {
  /// The bytes of the file, most of which are never written.
  static let size = 96 << 20

  /// Why no power can be cut here.
  struct Obstacle: Error {
    let text: String
  }

  /// A step that worked before and does not now.
  struct Fault: Error {
    let text: String
  }

  private static let mark = "CAIRN_SELF_TEST_HAS_MOUNTS"
  private let image: String
  /// Where it is mounted.
  private(set) var place: String?

  /// Starts this program anew with mounts of its own, where it may; to be called before all else.
  static func takeOwnMounts() -> Bool { OwnMounts.take(marking: mark) }

  /// Makes the file system and tries whether it can be mounted.
  ///
  /// - Throws: ``Obstacle``.
  init(in folder: DrillFolder, hasOwnMounts: Bool) throws(Obstacle) {
    guard hasOwnMounts else {
      throw Obstacle(
        text: HostIdentity.effectiveUser == 0
          ? "this system lets no process have mounts of its own" : "it takes root")
    }
    image = "\(folder.path)/power.img"
    guard FileManager.default.createFile(atPath: image, contents: nil),
      let file = FileHandle(forWritingAtPath: image)
    else { throw Obstacle(text: "\(image) cannot be made") }
    do {
      try file.truncate(atOffset: UInt64(Self.size))
      try file.close()
      try mount(at: folder.path + "/power")
      try unmount()
    } catch let fault as Fault {
      try? FileManager.default.removeItem(atPath: image)
      throw Obstacle(text: fault.text)
    } catch {
      throw Obstacle(text: "\(error.localizedDescription)")
    }
  }

  /// Mounts it, with nothing in it, at a folder that is made.
  func mount(at folder: String) throws {
    try Self.run("mkfs.ext4", ["-q", "-F", image])
    try attach(to: folder)
  }

  private func attach(to folder: String) throws {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try Self.run("mount", ["-o", "loop,nodev,nosuid,noexec", image, folder])
    place = folder
  }

  /// Takes its mount away, once no program has a file open there.
  func unmount() throws {
    guard let folder = place else { return }
    var attempts = 0
    while true {
      do {
        try Self.run("umount", [folder])
        break
      } catch {
        attempts += 1
        if attempts == 200 { throw error }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
    place = nil
    _ = EmptyFolder.remove(path: folder)
  }

  /// What a cut takes away, for its own sake.
  private var unflushed: String { "\(place ?? "")/unflushed" }

  /// The power goes.
  func cut() throws {
    guard let place else { return }
    _ = FileManager.default.createFile(
      atPath: unflushed, contents: Data(repeating: 1, count: 8192))
    try OwnMounts.cutPower(at: place)
  }

  /// The power comes back, once no program has a file open there.
  ///
  /// - Returns: Whether what was written last, without a flush, is gone, as it must be.
  func restore() throws -> Bool {
    guard let folder = place else { return false }
    try unmount()
    try attach(to: folder)
    let size = (try? FileFacts(path: unflushed).size) ?? 0
    try? FileManager.default.removeItem(atPath: unflushed)
    return size == 0
  }

  /// Runs a program of the system.
  private static func run(_ name: String, _ arguments: [String]) throws {
    let path = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let path else { throw Fault(text: "\(name) is not installed") }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    do { try process.run() } catch { throw Fault(text: "\(path): \(error.localizedDescription)") }
    let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let reason = words.split(separator: "\n").last.map { ", \($0)" } ?? ""
      throw Fault(text: "\(name): exit code \(process.terminationStatus)\(reason)")
    }
  }
}
