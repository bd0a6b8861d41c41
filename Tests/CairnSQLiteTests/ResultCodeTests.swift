import CairnStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSQLite

/// SQLite's result codes as Core Data's errors.
@Suite struct ResultCodeTests {
  private static let codes: [(Int32, CoreDataError.Code)] = [
    (5, .persistentStoreTimeout), (26, .persistentStoreInvalidType),
    (14, .persistentStoreOpen), (8, .persistentStoreSave), (8 | (3 << 8), .persistentStoreOpen),
    (13, .fileWriteOutOfSpace),
    (10 | (3 << 8), .persistentStoreSave), (10 | (1 << 8), .persistentStoreOperation),
    (10 | (19 << 8), .fileWriteOutOfSpace),
    (11, .persistentStoreOperation), (1, .sqlite),
  ]

  @Test(arguments: codes)
  func everyCodeHasItsError(_ code: Int32, _ expected: CoreDataError.Code) {
    let error = SQLiteResultCode.translate(
      SQLiteFailure(code: code, message: "m"), path: "/a", doing: "be saved")
    let translated = error as? CoreDataError
    #expect(translated?.code == expected)
    #expect(
      translated?.userInfo[SQLiteResultCode.errorDomain] as? NSNumber == NSNumber(value: code))
  }

  /// SQLite calls a write that the system refuses for any reason but a full disk a failed one.
  @Test(arguments: [(EDQUOT, "quota"), (EFBIG, "LimitFSIZE="), (ENOSPC, "The disk is full")])
  func aFileThatMayNotGetLargerLeavesTheStoreAsItWas(_ system: Int32, _ words: String) {
    let failure = SQLiteFailure(code: 10 | (3 << 8), message: "disk I/O error", systemCode: system)
    #expect(!SQLiteResultCode.isFatal(failure))
    let error = SQLiteResultCode.translate(failure, path: "/a", doing: "be saved")
    #expect((error as? CoreDataError)?.code == .fileWriteOutOfSpace)
    #expect((error as? CoreDataError)?.message.contains(words) == true)
  }

  /// As in a container whose file system is read-only.
  @Test func withoutAFolderForTemporaryFilesTheyAreKeptInMemory() throws {
    #expect(TemporaryFiles.folder(among: ["/a", "/b", "/c"]) { $0 > "/a" } == "/b")
    #expect(TemporaryFiles.folder(among: ["/a", "/b"]) { _ in false } == nil)
    let folder = try TemporaryFolder()
    let missing = folder.file("missing")
    #expect(TemporaryFiles.folder(among: [missing, "/dev/null", folder.path]) == folder.path)
    let failure = SQLiteFailure(code: 10 | (25 << 8), message: "disk I/O error")
    #expect(!SQLiteResultCode.isFatal(failure))
  }

  @Test func aFailedBackupSaysWhyAndNotThatThereIsNoError() {
    let error = SQLiteResultCode.translate(
      DatabaseError(resultCode: .SQLITE_FULL, message: "not an error"), path: "/a",
      doing: "be replaced")
    #expect(
      (error as? CoreDataError)?.message
        == "The store at /a could not be replaced: database or disk is full. The disk is full; "
        + "nothing was written. Make room and try again.")
  }

  @Test func afterAFailedWriteTheStoreIsReadOnly() throws {
    let fixture = try StoreFixture()
    let project = try fixture.entity("Project")
    let first = #expect(throws: CoreDataError.self) {
      _ = try fixture.store.write(doing: "be saved") { _ -> Bool? in
        throw SQLiteFailure(code: 10 | (4 << 8), message: "disk I/O error")
      }
    }
    #expect(first?.code == .persistentStoreSave)
    #expect(fixture.store.isReadOnly)
    #expect(throws: CoreDataError.self) {
      _ = try fixture.store.obtainPermanentIDs(for: [project])
    }
    #expect(try fixture.fetch("Project").isEmpty)
  }

  @Test func concurrentReadsAndSavesNeverSeeHalfASave() async throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    let project = try fixture.entity("Project")
    let rounds = 40
    let batches = try (0..<rounds).map { _ in
      try (0..<5).map { _ in try fixture.row("Project") }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for batch in batches {
          var request = SaveChangesRequest()
          request.insertions = batch.map { .init(snapshot: $0) }
          _ = try store.save(request)
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<rounds {
            guard
              case .count(let count) = try store.fetch(
                StoreFetchRequest(entity: project, result: .count))
            else { return }
            #expect(count % 5 == 0)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try fixture.fetch("Project").count == rounds * 5)
  }
}
