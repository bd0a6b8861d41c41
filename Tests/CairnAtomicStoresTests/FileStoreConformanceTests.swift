// Stores that are one file keep the promise of a store.

import CairnAtomicStores
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct FileStoreConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func xmlStoresKeepThePromiseOfAStore(check: String) throws {
    try run(XMLStoreKind(), check)
  }

  @Test(arguments: PersistentStoreConformance.checkNames)
  func binaryStoresKeepThePromiseOfAStore(check: String) throws {
    try run(BinaryStoreKind(), check)
  }

  private func run(_ kind: any StoreKind, _ check: String) throws {
    let place = try TemporaryFolder()
    let suite = PersistentStoreConformance(kind: kind) {
      place.url.appendingPathComponent(UUID().uuidString)
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }
}
