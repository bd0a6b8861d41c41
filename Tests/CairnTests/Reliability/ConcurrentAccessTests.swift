// Contexts that read while others write, on files: nobody waits, and the log stays short.

import Cairn
import CairnSQLite
import Foundation
import Synchronization
import TestSupport
import Testing

/// Specification: issue "Query generations and reading" – reads never wait for writes and the
/// reverse, and the write-ahead log does not grow without bound.
@Suite(.timeLimit(.minutes(10))) struct ConcurrentAccessTests {
  private let folder: TemporaryFolder
  private let shop: Shop

  init() throws {
    folder = try TemporaryFolder()
    // A wait would be a test that fails, not one that hangs.
    shop = try Shop(
      at: folder.fileURL("Shop.sqlite"), options: [StoreOptionKey.timeout: 20])
    try shop.fill()
  }

  private func end() {
    try? shop.close()
  }

  private func context() -> ManagedObjectContext {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = shop.coordinator
    return context
  }

  private static func request(_ condition: String) -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = ObjectPredicate(format: condition)
    return request
  }

  private var logSize: Int {
    let facts = try? FileManager.default.attributesOfItem(
      atPath: folder.fileURL("Shop.sqlite-wal").path)
    return (facts?[.size] as? NSNumber)?.intValue ?? 0
  }

  // MARK: Waiting

  @Test func readsDoNotWaitForALongWrite() throws {
    defer { end() }
    let (reader, writer) = (context(), context())
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isDone = DispatchSemaphore(value: 0)
    let failure = Mutex<String?>(nil)
    writer.perform {
      // A transaction that stays open, with rows written, until it is told to end.
      let next = Mutex(0)
      let request = BatchInsertRequest(entityName: "Item") { (row: NSMutableDictionary) in
        let number = next.withLock { number in
          defer { number += 1 }
          return number
        }
        if number == 1500 {
          hasBegun.signal()
          mayEnd.wait()
        }
        row.setObject("long \(number)", forKey: NSString("name"))
        return number == 2000
      }
      do {
        _ = try writer.execute(request)
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
      isDone.signal()
    }
    try #require(hasBegun.wait(timeout: .now() + 120) == .success)
    // The write goes on only afterwards: reading that waited for it would be a timeout.
    try reader.performAndWait {
      // Fetches, counts, faults, relationships and a new generation, in the middle of the write.
      let items = try reader.fetch(Self.request("name BEGINSWITH 'item'"))
      #expect(items.count == 12)
      let boxes = Set(items.compactMap { $0.value(forKey: "box") as? ManagedObject })
      #expect(boxes.map { ($0.value(forKey: "items") as? NSOrderedSet)?.count } == [4, 4, 4])
      try reader.setQueryGenerationFrom(.current)
      #expect(try reader.count(for: Self.request("name BEGINSWITH 'long'")) == 0)
      #expect(reader.faultError == nil)
    }
    mayEnd.signal()
    try #require(isDone.wait(timeout: .now() + 120) == .success)
    #expect(failure.withLock { $0 } == nil)
    try reader.performAndWait {
      #expect(try reader.count(for: Self.request("name BEGINSWITH 'long'")) == 0)
      try reader.setQueryGenerationFrom(nil)
      #expect(try reader.count(for: Self.request("name BEGINSWITH 'long'")) == 2000)
    }
  }

  @Test func writesDoNotWaitForReadsThatNeverPause() throws {
    defer { end() }
    let isOver = Mutex(false)
    let reads = Mutex(0)
    let readers = DispatchGroup()
    for _ in 0..<3 {
      let reader = context()
      readers.enter()
      reader.perform {
        while !isOver.withLock({ $0 }) {
          let items = try? reader.fetch(Self.request("name BEGINSWITH 'item'"))
          // One commit or another, never a mixture.
          let counts = Set((items ?? []).compactMap { $0.value(forKey: "count") as? Int })
          if items?.count == 12, counts.count == 1 { reads.withLock { $0 += 1 } }
          reader.refreshAllObjects()
        }
        readers.leave()
      }
    }
    let longest = try writeALot()
    isOver.withLock { $0 = true }
    readers.wait()
    #expect(reads.withLock { $0 } > 20)
    // SQLite moves the log at 4 MB.
    #expect(longest < 12_000_000, "\(longest) bytes of log")
  }

  /// Each save moves the pin to a new state; there is never a moment without one for long.
  @Test func theLogStaysShortWhileAPinnedContextSaves() throws {
    defer { end() }
    let longest = try writeALot(isPinned: true)
    #expect(longest < 12_000_000, "\(longest) bytes of log")
  }

  /// Saves about 40 MB.
  ///
  /// - Returns: The greatest size that the log had.
  private func writeALot(isPinned: Bool = false) throws -> Int {
    let writer = context()
    return try writer.performAndWait {
      if isPinned { try writer.setQueryGenerationFrom(.current) }
      var longest = 0
      for number in 0..<400 {
        for item in try writer.fetch(Self.request("name BEGINSWITH 'item'")) {
          item.setValue(number, forKey: "count")
        }
        let filler = EntityDescription.insertNewObject(forEntityName: "Item", into: writer)
        filler.setValue(Shop.words(60_000), forKey: "name")
        try writer.save()
        writer.delete(filler)
        try writer.save()
        longest = max(longest, logSize)
      }
      print("longest log: \(longest)")
      return longest
    }
  }
}
