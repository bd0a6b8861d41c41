// A program that writes to a store with SQL of its own, which history does not tell of.

import Foundation
import GRDB
import TestSupport

extension TemporaryFolder {
  /// Runs statements in the store file of a name; waits for the engine where it writes at the same moment.
  func sql(_ name: String, _ statements: String) async throws {
    let file = try DatabaseQueue(patient: url.appendingPathComponent(name + ".sqlite").path)
    try await file.write { try $0.execute(sql: statements) }
    try file.close()
  }
}
