// Stores written only in tests, with Core Data's methods, keep the promise of a store.

import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct CustomStoreConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func anIncrementalStoreKeepsThePromiseOfAStore(check: String) throws {
    let base = try Library.remoteURL()
    let kind = StoreClassKind(RemoteShelf.self, type: RemoteShelf.storeType)
    let suite = PersistentStoreConformance(kind: kind) {
      let url = base.appendingPathComponent(UUID().uuidString)
      // What makes dictionaries of a store that does not.
      Shelf.shelf(at: url).state.withLock { $0.makesDictionaries = false }
      return url
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }

  @Test(arguments: PersistentStoreConformance.checkNames)
  func anAtomicStoreKeepsThePromiseOfAStore(check: String) throws {
    let folder = try TemporaryFolder()
    let kind = StoreClassKind(TextShelf.self, type: TextShelf.storeType, keepsFiles: true)
    let suite = PersistentStoreConformance(kind: kind) {
      folder.url.appendingPathComponent(UUID().uuidString)
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }
}
