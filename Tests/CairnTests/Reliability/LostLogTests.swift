// The write-ahead log of an open store is removed by another program's hand.

import Cairn
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

@Suite struct LostLogTests {
  private let folder: TemporaryFolder
  private let shop: Shop

  init() throws {
    folder = try TemporaryFolder()
    shop = try Shop(at: folder.fileURL("Shop.sqlite"))
    try shop.fill()
  }

  private func remove(_ endings: String...) throws {
    for ending in endings {
      try FileManager.default.removeItem(at: folder.fileURL("Shop.sqlite\(ending)"))
    }
  }

  /// What the file holds for one who opens it again.
  private func contents() throws -> [String] {
    let again = try Shop(at: folder.fileURL("Shop.sqlite"))
    defer { try? again.close() }
    #expect(try again.store.fileFindings().filter { $0.severity == .damage }.isEmpty)
    return try again.contents()
  }

  private func insert(_ name: String) throws {
    try shop.context.performAndWait {
      shop.insert(name)
      try shop.context.save()
    }
  }

  @Test(arguments: [["-wal"], ["-wal", "-shm"]])
  func whatItHeldIsInTheFileAndNothingMoreIsWritten(_ endings: [String]) throws {
    try insert("saved last")
    let before = try shop.contents()
    for ending in endings { try remove(ending) }
    let refused = #expect(throws: CoreDataError.self) { try insert("refused") }
    #expect(refused?.message.contains("All that it held is in the file") == true)
    #expect(shop.store.failure?.message == refused?.message)
    try shop.close()
    #expect(try contents() == before)
  }

  @Test func anotherLogInItsPlaceIsLeftAlone() throws {
    try insert("saved last")
    try remove("-wal")
    let other = Data("another program's".utf8)
    try other.write(to: folder.fileURL("Shop.sqlite-wal"))
    #expect(throws: CoreDataError.self) { try shop.store.checkFilePlace() }
    #expect(shop.store.failure?.message.contains("may be lost") == true)
    try? shop.close()
    #expect(try Data(contentsOf: folder.fileURL("Shop.sqlite-wal")) == other)
  }

  /// As a person restores a store by hand, and forgets the program that has it open.
  @Test func aBackupThatIsCopiedOverTheFileIsNotMixedWithTheLog() throws {
    try shop.store.checkpoint()
    let backup = try Data(contentsOf: folder.fileURL("Shop.sqlite"))
    let then = try shop.contents()
    for number in 0..<200 { try insert("later \(number)") }
    try shop.store.checkpoint()
    for number in 0..<20 { try insert("last \(number)") }
    let handle = try FileHandle(forWritingTo: folder.fileURL("Shop.sqlite"))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: backup)
    try handle.close()
    try remove("-wal", "-shm")
    #expect(throws: CoreDataError.self) { try shop.store.checkFilePlace() }
    #expect(shop.store.failure?.message.contains("may be lost") == true)
    try? shop.close()
    #expect(try Data(contentsOf: folder.fileURL("Shop.sqlite")) == backup)
    #expect(try contents() == then)
  }

  @Test func aStoreThatIsOnlyClosedDoesNotWriteItEither() throws {
    try insert("saved last")
    try remove("-wal", "-shm")
    let file = try Data(contentsOf: folder.fileURL("Shop.sqlite"))
    try shop.close()
    #expect(try Data(contentsOf: folder.fileURL("Shop.sqlite")) == file)
  }
}
