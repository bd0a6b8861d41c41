// One daemon, or one migration, at a time on a local store.
import CairnPlatform
import Foundation
import Synchronization

/// Who serves a local store, as the owner writes it beside the store.
package struct StoreOwner: Sendable, Hashable, CustomStringConvertible {
  package let process: Int32
  /// The systemd unit; nil outside of systemd.
  package let unit: String?

  package init(process: Int32, unit: String?) {
    self.process = process
    self.unit = unit
  }

  /// This process.
  package static var current: StoreOwner {
    let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    return StoreOwner(process: HostIdentity.processID, unit: unit(inControlGroups: groups))
  }

  /// The unit in the text of `/proc/self/cgroup`.
  package static func unit(inControlGroups text: String) -> String? {
    let names = text.split(whereSeparator: { $0 == "\n" || $0 == "/" })
    return names.last { $0.hasSuffix(".service") }.map(String.init)
  }

  /// Reads what ``note`` wrote; nil for anything else.
  package init?(note: String) {
    var fields: [Substring: Substring] = [:]
    for line in note.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
    guard let process = fields["pid"].flatMap({ Int32($0) }), process > 0 else { return nil }
    self.init(process: process, unit: fields["unit"].map(String.init))
  }

  /// Lines of `key=value`.
  package var note: String { "pid=\(process)\n" + (unit.map { "unit=\($0)\n" } ?? "") }

  /// "process 4711 (cairnd.service)".
  package var description: String { "process \(process)" + (unit.map { " (\($0))" } ?? "") }
}

/// Another daemon serves the local store.
package struct StoreTaken: Error, Sendable, CustomStringConvertible {
  /// The local store.
  package let path: String
  /// Nil where its note cannot be read.
  package let owner: StoreOwner?

  package var description: String {
    "another cairnd serves \(path): \(owner.map(String.init(describing:)) ?? "one of another user"); "
      + "stop it, or give this one a local store of its own (local.path)"
  }
}

/// This daemon's hold on its local store, for as long as the process lives.
///
/// Two daemons on one store would each believe to be the only one that keeps the books of its links.
/// Mutable state: the lock, once it is taken, inside the mutex.
package final class StoreOwnership: Sendable {
  private let store: String
  private let owner: StoreOwner
  private let lock = Mutex<AdvisoryLock?>(nil)

  package init(of store: String, as owner: StoreOwner = .current) {
    self.store = store
    self.owner = owner
  }

  /// The file that carries the lock, beside the store whatever links lead there.
  package static func lockPath(of store: String) -> String {
    let url = URL(fileURLWithPath: store).resolvingSymlinksInPath()
    return url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.lastPathComponent).owner"
    ).path
  }

  /// Who wrote beside a store that it serves it, or did last.
  package static func owner(of store: String) -> StoreOwner? {
    AdvisoryLock.note(at: lockPath(of: store)).flatMap(StoreOwner.init(note:))
  }

  /// Takes the store, unless this process has it already.
  ///
  /// - Throws: ``StoreTaken``. Not where no lock can be made, as in a folder that is not there: opening
  ///   the store says better what is wrong with it.
  package func take() throws(StoreTaken) {
    let isTaken = lock.withLock { lock in
      if lock != nil { return false }
      let path = Self.lockPath(of: store)
      do {
        guard let taken = try AdvisoryLock.attempt(path: path) else { return true }
        // The daemon serves on a full disk, too; a second daemon then cannot name this one.
        try? taken.leaveNote(owner.note)
        lock = taken
        return false
      } catch {
        return false
      }
    }
    guard isTaken else { return }
    throw StoreTaken(path: store, owner: Self.owner(of: store))
  }
}
