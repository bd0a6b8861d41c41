// The SQLite store keeps the promise of a store.

import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct SQLiteConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func keepsThePromiseOfAStore(check: String) throws {
    let folder = try TemporaryFolder()
    let suite = PersistentStoreConformance(kind: SQLiteStoreKind()) {
      folder.fileURL("\(UUID().uuidString).sqlite")
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }
}
