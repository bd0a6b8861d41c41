// The SQLite store keeps the promise of a store.

import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@Suite struct SQLiteConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func keepsThePromiseOfAStore(check: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-conformance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let suite = PersistentStoreConformance(kind: SQLiteStoreKind()) {
      folder.appendingPathComponent("\(UUID().uuidString).sqlite")
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }
}
