// A folder with a copy of a store, until it has its name.

import CairnPlatform
import Foundation

/// A new folder that is filled under a hidden name and gets its own once all of it is there and durable.
///
/// It carries a lock for as long as it is filled: what a program that was killed has left carries none, and is removed.
package struct StagedFolder {
  /// Where it is filled.
  package let path: String
  private let destination: URL
  private let lock: AdvisoryLock?

  /// Makes it beside its destination, for its user alone.
  ///
  /// - Throws: `CocoaError`.
  package init(for destination: String) throws {
    self.destination = URL(fileURLWithPath: destination)
    let hidden = ".\(self.destination.lastPathComponent).\(UUID().uuidString)"
    path = self.destination.deletingLastPathComponent().appendingPathComponent(hidden).path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // On file systems without locks a person removes what is left.
    lock = (try? AdvisoryLock.attempt(folder: path)) ?? nil
  }

  /// Makes what is in it durable and gives it its name, which nothing else may have.
  ///
  /// - Throws: `CocoaError` or ``CairnPlatform/PlatformError``.
  package func publish() throws {
    try makeDurable()
    try FileManager.default.moveItem(atPath: path, toPath: destination.path)
    try AtomicFileWrite.synchronize(folder: destination.deletingLastPathComponent().path)
  }

  /// Removes it, unless it has its name by now.
  package func discard() {
    try? FileManager.default.removeItem(atPath: path)
    lock?.release()
  }

  /// Removes what programs have left in a folder that were killed while they filled another one in there.
  ///
  /// - Parameter prefix: How the names begin that those were to get.
  package static func removeLeftovers(in folder: String, of prefix: String = "") {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(".\(prefix)") {
      guard let last = name.split(separator: ".").last, UUID(uuidString: String(last)) != nil
      else { continue }
      let path = "\(folder)/\(name)"
      guard let lock = try? AdvisoryLock.attempt(folder: path) else { continue }
      try? FileManager.default.removeItem(atPath: path)
      lock.release()
    }
  }

  private func makeDurable() throws {
    var folders = [path]
    let entries = FileManager.default.enumerator(atPath: path)
    while let entry = entries?.nextObject() as? String {
      let path = "\(path)/\(entry)"
      if try FileFacts(path: path).isFolder {
        folders.append(path)
      } else {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.synchronize()
      }
    }
    // The innermost first.
    for folder in folders.reversed() { try AtomicFileWrite.synchronize(folder: folder) }
  }
}
