import Foundation

/// Objects that are noted and not held: what of them is left when a stack was closed has leaked.
///
/// Open a stack over a store, work with it and close it, again and again, noting every object on the
/// way; then ``left()`` must be empty.
public struct Witnesses {
  private struct Weak {
    weak var object: AnyObject?
  }
  private var seen: [Weak] = []

  /// Nothing noted yet.
  public init() {}

  /// How many objects were noted.
  public var count: Int { seen.count }

  /// Notes objects; nil is no object.
  public mutating func note(_ objects: AnyObject?...) {
    for case let object? in objects { seen.append(Weak(object: object)) }
  }

  /// Notes all objects of a list.
  public mutating func note(all objects: [AnyObject]) {
    seen += objects.map { Weak(object: $0) }
  }

  /// How many are still there, by their class.
  ///
  /// Blocks that contexts have enqueued for themselves may still be running: this blocks its thread
  /// until they are done or the limit is reached.
  public func left(within limit: Duration = .seconds(20)) -> [String: Int] {
    let deadline = ContinuousClock.now + limit
    while seen.contains(where: { $0.object != nil }), ContinuousClock.now < deadline {
      // Proof: the loop polls, and only this thread waits.
      Thread.sleep(forTimeInterval: 0.01)
    }
    return Dictionary(grouping: seen.compactMap(\.object), by: { "\(type(of: $0))" })
      .mapValues(\.count)
  }
}

/// The files below a folder that this process has open.
package func openFiles(in folder: URL) -> [String] {
  let files = FileManager.default
  // The listing's own descriptor is closed by the time it is looked at.
  let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return numbers.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    .filter { $0.hasPrefix(folder.path + "/") }
}
