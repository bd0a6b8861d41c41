// Programs notice each other's commits.

import Cairn
import CairnPlatform
import CairnTesting
import Foundation
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct CommitWatchTests {
  let words: StoreWords

  init() throws { words = try StoreWords() }

  @Test func othersCommitsAreNoticedAndOwnOnesAreNot() async throws {
    let (one, other) = (try words.openRecording(capturing: true), try words.openRecording())
    let calls = Mutex(0)
    try one.watchCommits { calls.withLock { $0 += 1 } }
    defer { one.stopWatchingCommits() }
    #expect(one.noticesCommits)
    try words.insert("Shelf", in: one)
    try words.insert("Shelf", in: other)
    #expect(await eventually { calls.withLock { $0 } > 0 })
    // What came before it has come by then: notifications keep the order of commits.
    let first = calls.withLock { $0 }
    #expect(first == 1)
    try words.sql("INSERT INTO @shelf (place) VALUES ('sql')", on: try words.foreign())
    #expect(await eventually { calls.withLock { $0 } > first })
  }

  @Test func aSlowLookFindsNoNewsInWhatWasToldOf() async throws {
    let (one, other) = (try words.openRecording(), try words.openRecording())
    let calls = Mutex(0)
    try one.watchCommits { calls.withLock { $0 += 1 } }
    defer { one.stopWatchingCommits() }
    let watch = try #require(one.currentWatch)
    try words.insert("Shelf", in: one)
    try words.insert("Shelf", in: other)
    // Its own commit was told of before.
    #expect(await eventually { calls.withLock { $0 } == 1 })
    watch.look()
    watch.look()
    #expect(calls.withLock { $0 } == 1)
    // And finds what nothing has told of.
    try words.sql("UPDATE @cairn_store SET announces = false", on: try words.foreign())
    try words.insert("Shelf", in: other)
    watch.look()
    #expect(calls.withLock { $0 } == 2)
  }

  @Test func aSessionThatEndsIsMadeAnewAndNothingIsMissed() async throws {
    let (one, other) = (try words.openRecording(), try words.openRecording())
    let calls = Mutex(0)
    try one.watchCommits { calls.withLock { $0 += 1 } }
    defer { one.stopWatchingCommits() }
    try words.sql(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE 'LISTEN%\(words.schema)\"%'",
      on: try words.foreign())
    try words.insert("Shelf", in: other)
    #expect(await eventually { calls.withLock { $0 } > 0 && one.noticesCommits })
    let known = calls.withLock { $0 }
    try words.insert("Shelf", in: other)
    #expect(await eventually { calls.withLock { $0 } > known })
  }

  @Test func aServerThatIsGoneIsToldOfOnce() async throws {
    let server = try PostgreSQLServer()
    let words = try StoreWords(server)
    let store = try words.openRecording()
    let calls = Mutex(0)
    try store.watchCommits { calls.withLock { $0 += 1 } }
    defer { store.stopWatchingCommits() }
    try server.stop()
    #expect(await eventually { calls.withLock { $0 } == 1 })
    for _ in 0..<3 { store.lookForCommits() }
    #expect(calls.withLock { $0 } == 1 && !store.noticesCommits)
    try server.start()
    #expect(await eventually { store.noticesCommits && calls.withLock { $0 } == 2 })
  }

  @Test func aLookThatFailsIsToldOfOnce() throws {
    let calls = Mutex(0)
    let fails = Mutex(false)
    let server = words.server
    let watch = try CommitListening(
      channel: "looks", ownPayload: "own", connect: { try server.connect() },
      newest: {
        if fails.withLock({ $0 }) { throw PostgreSQLFailure(.client, "no answer") }
        return 1
      }, onCommit: { calls.withLock { $0 += 1 } })
    defer { watch.stop() }
    for expected in [1, 2] {
      fails.withLock { $0 = true }
      for _ in 0..<3 { watch.look() }
      #expect(calls.withLock { $0 } == expected)
      // After an answer the next failure is another one.
      fails.withLock { $0 = false }
      watch.look()
      #expect(calls.withLock { $0 } == expected)
    }
  }

  @Test func whereNoProgramListensNothingIsSaid() throws {
    let store = try words.openRecording()
    let listener = try words.foreign()
    try words.sql(
      "LISTEN \"\(CommitListening.channel(of: try SchemaName(words.schema)))\"", on: listener)
    try words.insert("Shelf", in: store)
    let soon = MonotonicClock.nanoseconds + 50_000_000
    #expect(try listener.notification(until: soon) == nil)
  }

  @Test func aContextIsToldThatAnotherProgramSaved() async throws {
    let url = try #require(words.server.storeURL(words.schema))
    func container() throws -> PersistentContainer {
      let container = PersistentContainer(
        name: "Library", managedObjectModel: try LibraryModel.make().model)
      let description = PersistentStoreDescription(url: url)
      description.type = PersistentStore.StoreType.postgreSQL.rawValue
      for key in [StoreOptionKey.historyTracking, StoreOptionKey.remoteChangeNotification] {
        description.setOption(NSNumber(value: true), forKey: key)
      }
      container.persistentStoreDescriptions = [description]
      container.loadPersistentStores { _, error in #expect(error == nil) }
      return container
    }
    let (one, other) = (try container(), try container())
    let tokens = Mutex<[PersistentHistoryToken?]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: one.persistentStoreCoordinator, queue: nil
    ) { note in
      let token = note.userInfo?[PersistentStoreKey.historyToken] as? PersistentHistoryToken
      tokens.withLock { $0.append(token) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let context = other.newBackgroundContext()
    try context.performAndWait {
      _ = EntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
      try context.save()
    }
    #expect(await eventually { tokens.withLock { !$0.isEmpty } })
    #expect(tokens.withLock { $0.last ?? nil } != nil)
  }
}
