// What becomes of a store after a sync that failed.

import Cairn
import CairnSQLite
import Foundation
import Testing

/// Specification: operations.md 3.1 – a failed sync is never tried again, since the kernel may have
/// dropped what it could not write: the store goes read-only and says why.
@Suite struct FailedSyncTests {
  private func open(_ pragmas: [String: String] = [:]) throws -> (FaultFolder, Shop) {
    let folder = try FaultFolder()
    let all = ["synchronous": "FULL"].merging(pragmas) { $1 }
    let shop = try Shop(at: folder.store, options: [StoreOptionKey.sqlitePragmas: all])
    try shop.fill()
    return (folder, shop)
  }

  /// The save fails, and what it says.
  private func failure(of shop: Shop) -> CoreDataError? {
    shop.context.performAndWait {
      do {
        try shop.context.save()
        return nil
      } catch {
        return error as? CoreDataError
      }
    }
  }

  @Test func aCommitWhoseSyncFailedLeavesTheStoreReadOnlyAndIsNotTriedAgain() throws {
    let (folder, shop) = try open()
    shop.context.performAndWait { _ = shop.insert("unlucky") }
    folder.arm(Fault(kind: .sync, nth: 1, lasts: false))
    let first = try #require(failure(of: shop))
    #expect(folder.injected == 1)
    #expect(first.code == .persistentStoreSave)
    #expect(
      first.message.contains("read-only from now on") && first.message.contains("Shop.sqlite"))
    #expect((first.userInfo["NSSQLiteErrorDomain"] as? NSNumber)?.intValue == 1034)

    // The disk is well again, but nobody knows what it has.
    let syncs = folder.syncs
    let second = try #require(failure(of: shop))
    #expect(second.message == first.message)
    #expect(shop.store.isReadOnly && shop.store.failure?.message == first.message)
    #expect(throws: CoreDataError.self) { try shop.store.checkpoint() }
    #expect(throws: CoreDataError.self) {
      try shop.context.performAndWait {
        try shop.context.execute(BatchInsertRequest(entityName: "Item", objects: [["name": "x"]]))
      }
    }
    #expect(shop.context.performAndWait { shop.context.insertedObjects.count } == 1)
    #expect(
      try shop.context.performAndWait { try shop.items("name BEGINSWITH 'item'").count } == 12)
    try shop.close()
    #expect(folder.syncs == syncs, "synced again")

    let again = try Shop(at: folder.store)
    #expect(again.store.failure == nil && !again.store.isReadOnly)
    #expect(try again.store.verifyIntegrity().isEmpty)
    again.context.performAndWait { _ = again.insert("lucky") }
    #expect(failure(of: again) == nil)
    try again.close()
  }

  @Test func aCheckpointWhoseSyncFailedIsNotPassedOver() throws {
    // A checkpoint after each commit, whose syncs come after the commit's own.
    let (folder, shop) = try open(["wal_autocheckpoint": "1"])
    // A change needs no new ID, which would be a commit of its own. The commit syncs the beginning of
    // the log and the log.
    try shop.context.performAndWait {
      try shop.items("name == 'painting'").first?.setValue("saved", forKey: "name")
    }
    folder.arm(Fault(kind: .sync, nth: 3, lasts: false))
    #expect(failure(of: shop) == nil, "the commit itself is done")
    #expect(folder.injected == 1)
    let syncs = folder.syncs
    #expect(shop.store.isReadOnly)
    let failed = try #require(shop.store.failure)
    #expect(failed.message.contains("checkpointed"))
    shop.context.performAndWait { _ = shop.insert("later") }
    #expect(failure(of: shop)?.message == failed.message)
    try shop.close()
    #expect(folder.syncs == syncs, "synced again")

    let again = try Shop(at: folder.store)
    #expect(try again.contents().contains { $0.hasPrefix("saved") })
    #expect(try again.store.verifyIntegrity().isEmpty)
    try again.close()
  }

  @Test func aCommitInDoubtKeepsTheFilesItMayRefer() throws {
    let (folder, shop) = try open()
    shop.context.performAndWait { _ = shop.insert("drawing", picture: Shop.picture(9)) }
    let files = Shop.pictureFiles(of: folder.store)
    folder.arm(Fault(kind: .sync, nth: 2, lasts: true))
    #expect(failure(of: shop) != nil)
    try shop.close()
    folder.disarm()
    // All frames are in the log; only their sync failed. Opening takes them for committed.
    let again = try Shop(at: folder.store)
    let contents = try again.contents()
    #expect(contents.contains("drawing 1 110000 9"), "\(contents)")
    #expect(Shop.pictureFiles(of: folder.store).count == files.count + 1)
    try again.close()
  }
}
