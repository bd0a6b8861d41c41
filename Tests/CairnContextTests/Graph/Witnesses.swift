// For tests of what a closed stack leaves behind: objects that are noted, and not held.
import CairnContext
import Foundation

/// Remembers objects without keeping them alive.
struct Witnesses {
  private struct Weak {
    weak var object: AnyObject?
  }
  private var seen: [Weak] = []
  var count: Int { seen.count }

  mutating func note(_ objects: AnyObject?...) {
    for case let object? in objects { seen.append(Weak(object: object)) }
  }
  mutating func note(all objects: [AnyObject]) { seen += objects.map { Weak(object: $0) } }

  /// How many are still there, by their class.
  ///
  /// Blocks that contexts have enqueued for themselves may still be running: they get some time.
  func left() -> [String: Int] {
    let deadline = Date(timeIntervalSinceNow: 20)
    while seen.contains(where: { $0.object != nil }), Date() < deadline {
      // Proof: the loop polls, and only this thread waits.
      Thread.sleep(forTimeInterval: 0.01)
    }
    return Dictionary(grouping: seen.compactMap(\.object), by: { "\(type(of: $0))" })
      .mapValues(\.count)
  }
}

/// The files below a folder that this process has open.
func openFiles(in folder: URL) -> [String] {
  let files = FileManager.default
  // The listing's own descriptor is closed by the time it is looked at.
  let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return numbers.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    .filter { $0.hasPrefix(folder.path + "/") }
}
