// The one way for a test to get a folder of its own.

import Foundation

/// A folder of a test's own, which goes with all its contents when the test is over.
///
/// The object removes the folder when it goes, also when the test throws: keep it in a variable of
/// the test (which may be asynchronous), in a property of its suite or in its fixture, for as long as
/// the files are wanted. The scoped form is ``with(_:)``. The path is short, since a socket's address
/// holds 107 bytes.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cairn-\(UUID().uuidString.prefix(8))", isDirectory: true)
    // Not with intermediate folders: one that is there already is another test's.
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { remove() }

  /// The folder's path, without a slash at its end.
  package var path: String { url.path }

  /// The path of a file in the folder.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The URL of a file in the folder.
  package func fileURL(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// The names of all that is in the folder, in order.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  private func remove() { try? FileManager.default.removeItem(at: url) }

  /// Runs the body with a folder that is gone afterwards.
  package static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try body(folder.url)
  }
}
