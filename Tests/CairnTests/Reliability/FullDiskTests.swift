// Saving, deleting and going on where the disk is full.

import Cairn
import CairnSQLite
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: issue "Reliability" – the save fails with its own error, everything unsaved is still
/// in the context, deletes and checkpoint still work, and writing resumes by itself.
@Suite struct FullDiskTests {
  /// Saves ever more until there is no room.
  private func fill(_ shop: Shop) throws -> (saved: Int, failure: CoreDataError) {
    var saved = 0
    for _ in 0..<400 {
      let failure = shop.context.performAndWait { () -> CoreDataError? in
        for number in 0..<20 { shop.insert("filler \(saved) \(number) " + Shop.words(200)) }
        do {
          try shop.context.save()
          return nil
        } catch {
          return error as? CoreDataError
        }
      }
      if let failure { return (saved, failure) }
      saved += 1
    }
    Issue.record("the disk never got full")
    throw CocoaError(.fileWriteUnknown)
  }

  /// The story, on a disk that has some room in the beginning.
  private func check(_ shop: Shop, makeRoom: () throws -> Void) throws {
    let (saved, failure) = try fill(shop)
    #expect(saved > 0)
    #expect(failure.code == .fileWriteOutOfSpace, "\(failure)")
    #expect(failure.message.contains("disk is full"), "\(failure)")
    #expect(failure.userInfo[NSFilePathErrorKey] != nil)
    #expect(shop.store.failure == nil && !shop.store.isReadOnly)
    #expect(shop.context.performAndWait { shop.context.insertedObjects.count } == 20)

    // Deletes and checkpoints work, with what was not saved still waiting.
    let deleting = ManagedObjectContext(.privateQueue)
    deleting.persistentStoreCoordinator = shop.coordinator
    try deleting.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "name BEGINSWITH 'filler'")
      request.fetchLimit = 5
      for item in try deleting.fetch(request) { deleting.delete(item) }
      #expect(deleting.deletedObjects.count == 5)
      #expect(throws: Never.self, "deleting") { try deleting.save() }
    }
    #expect(throws: Never.self, "moving the log") { try shop.store.checkpoint() }

    try makeRoom()
    try shop.context.performAndWait {
      try shop.context.save()
      #expect(!shop.context.hasChanges)
    }
    #expect(try shop.store.verifyIntegrity().isEmpty)
    let fillers = try shop.contents().filter { $0.hasPrefix("filler") }
    #expect(fillers.count == (saved + 1) * 20 - 5)
  }

  @Test(.timeLimit(.minutes(10)))
  func aStoreLivesThroughAFullDiskOfTheTestLayer() throws {
    let folder = try FaultFolder()
    let shop = try Shop(at: folder.store)
    try shop.fill()
    folder.room = 700_000
    try check(shop) { folder.room = 10_000_000 }
    try shop.close()
  }

  @Test(.timeLimit(.minutes(10)))
  func aStoreLivesThroughARealFullDisk() throws {
    guard let disk = try SmallDisk(megabytes: 2) else { return }
    let shop = try Shop(at: disk.folder.appendingPathComponent("Shop.sqlite"))
    try check(shop) { try disk.grow(toMegabytes: 16) }
    try shop.close()
  }

  @Test func aLargeValueThatDoesNotFitFailsTheSaveAndLeavesNoFile() throws {
    guard let disk = try SmallDisk(megabytes: 1) else { return }
    let url = disk.folder.appendingPathComponent("Shop.sqlite")
    let shop = try Shop(at: url)
    shop.context.performAndWait {
      _ = shop.insert("wall", picture: Data(repeating: 1, count: 3 << 20))
      do {
        try shop.context.save()
        Issue.record("saved")
      } catch {
        #expect((error as? CoreDataError)?.code == .fileWriteOutOfSpace, "\(error)")
      }
      #expect(shop.context.insertedObjects.count == 1)
    }
    #expect(Shop.pictureFiles(of: url).isEmpty)
    try disk.grow(toMegabytes: 16)
    try shop.context.performAndWait { try shop.context.save() }
    #expect(Shop.pictureFiles(of: url).count == 1)
    try shop.close()
  }
}

extension Shop {
  /// Text of so many bytes.
  static func words(_ count: Int) -> String { String(repeating: "abcdefghi ", count: count / 10) }
}
