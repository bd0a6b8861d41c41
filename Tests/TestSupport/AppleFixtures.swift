import Foundation
import Testing

/// Files made by Apple's frameworks, which tests read where they are present.
package enum AppleFixtures {
  /// The folder, nil when `CAIRN_APPLE_FIXTURES` does not name one.
  package static let folder: URL? = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"]
    .flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }

  /// Why a test that needs them does not run.
  package static let missing: Comment =
    "CAIRN_APPLE_FIXTURES names no folder; Apple's files are not checked."

  package static func url(_ path: String) throws -> URL {
    try #require(folder).appendingPathComponent(path)
  }
}
