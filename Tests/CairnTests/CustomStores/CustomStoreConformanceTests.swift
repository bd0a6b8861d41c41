// Stores written only in tests, with Core Data's methods, keep the promise of a store.

import Cairn
import CairnTesting
import Foundation
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
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-custom-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let kind = StoreClassKind(TextShelf.self, type: TextShelf.storeType, keepsFiles: true)
    let suite = PersistentStoreConformance(kind: kind) {
      folder.appendingPathComponent(UUID().uuidString)
    }
    let failures = suite.run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }
}
