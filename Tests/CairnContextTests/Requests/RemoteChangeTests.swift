// Commits of others to the same file: other coordinators, and other processes.
@_spi(Runtime) import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import Synchronization
import TestSupport
import Testing

/// Section 18.5 of the specification.
@Suite(.timeLimit(.minutes(10))) struct RemoteChangeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A coordinator of its own on a file.
  private struct Program {
    let coordinator: PersistentStoreCoordinator
    let store: PersistentStore
    let context: ManagedObjectContext

    init(_ url: URL, announces: Bool = true) throws {
      Author.registerClass(forEntityName: "Author")
      coordinator = PersistentStoreCoordinator(
        managedObjectModel: Library.model(), storeKinds: [SQLiteStoreKind()])
      store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: url,
        options: [
          StoreOptionKey.historyTracking: true, StoreOptionKey.remoteChangeNotification: announces,
        ])
      context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
    }

    func save(_ title: String) throws {
      try context.performAndWait {
        context.make("Book", ["title": title])
        try context.save()
      }
    }

    func close() { try? coordinator.remove(store) }
  }

  /// The history numbers of the notifications that a coordinator posts.
  private final class Announcements: Sendable {
    private let numbers = Mutex<[Int64]>([])
    private let stream: AsyncStream<Int64>
    private let token: Mutex<Observation?> = Mutex(nil)
    // Unchecked: only handed back to the notification centre.
    private struct Observation: @unchecked Sendable {
      let token: any NSObjectProtocol
    }

    init(_ program: Program) {
      let (store, url) = (program.store, program.store.url)
      let (stream, feed) = AsyncStream.makeStream(of: Int64.self)
      self.stream = stream
      let observation = Observation(
        token: NotificationCenter.default.addObserver(
          forName: .NSPersistentStoreRemoteChange, object: program.coordinator, queue: nil
        ) { [weak self] notification in
          let info = notification.userInfo ?? [:]
          #expect(info["NSStoreUUID"] as? String == store.identity.identifier)
          #expect(info["storeURL"] as? URL == url)
          let token = info["historyToken"] as? PersistentHistoryToken
          let number = token?.number(for: store) ?? -1
          self?.numbers.withLock { $0.append(number) }
          feed.yield(number)
        })
      token.withLock { $0 = observation }
    }

    deinit {
      if let token = token.withLock({ $0 }) {
        NotificationCenter.default.removeObserver(token.token)
      }
    }

    var all: [Int64] { numbers.withLock { $0 } }

    /// Waits for a notification that tells of the transaction; false when the test is out of time.
    func reach(_ number: Int64) async -> Bool {
      for await found in stream where found >= number { return true }
      return false
    }
  }

  @Test func ownSavesAreAnnouncedOnceAndThoseOfAnotherCoordinatorToo() async throws {
    let url = folder.fileURL("Library.sqlite")
    let (own, other) = (try Program(url), try Program(url, announces: false))
    defer {
      own.close()
      other.close()
    }
    let (heard, silent) = (Announcements(own), Announcements(other))
    try own.save("a")
    #expect(await heard.reach(1))
    try other.save("b")
    #expect(await heard.reach(2))
    try own.save("c")
    #expect(await heard.reach(3))
    #expect(heard.all == [1, 2, 3])
    #expect(silent.all.isEmpty)
  }

  @Test func ofCommitsWithoutPauseTheLastIsAnnouncedAndSoIsOneAfterAPause() async throws {
    let url = folder.fileURL("Library.sqlite")
    let (own, other) = (try Program(url), try Program(url, announces: false))
    defer {
      own.close()
      other.close()
    }
    let heard = Announcements(own)
    for number in 1...80 { try other.save("\(number)") }
    #expect(await heard.reach(80))
    try other.save("after the last rest has begun")
    #expect(await heard.reach(81))
  }

  @Test func batchRequestsAreAnnounced() async throws {
    let url = folder.fileURL("Library.sqlite")
    let program = try Program(url)
    defer { program.close() }
    let heard = Announcements(program)
    try program.context.performAndWait {
      try program.context.execute(BatchInsertRequest(entityName: "Book", objects: [["title": "a"]]))
    }
    #expect(await heard.reach(1))
  }

  @Test func anotherProcessesCommitIsAnnouncedAndItsHistoryCanBeMerged() async throws {
    let url = folder.fileURL("Library.sqlite")
    let program = try Program(url)
    defer { program.close() }
    try program.save("mine")
    let heard = Announcements(program)
    let token = program.coordinator.currentPersistentHistoryToken(fromStores: nil)
    let path = url.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Program(URL(fileURLWithPath: path), announces: false)
      other.context.transactionAuthor = "another process"
      try other.save("theirs")
      other.close()
    }
    #expect(await heard.reach(2))
    let context = program.context
    try context.performAndWait {
      let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      let result = try context.execute(request) as? PersistentHistoryResult
      let transactions = try #require(result?.result as? [PersistentHistoryTransaction])
      #expect(transactions.map(\.author) == ["another process"])
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didChangeObjectsNotification)
      for transaction in transactions {
        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      #expect(recorder.objects(.insertedObjects).map { $0.text("title") } == ["theirs"])
    }
  }

  @Test func nothingIsAnnouncedAfterTheStoreIsRemoved() async throws {
    let url = folder.fileURL("Library.sqlite")
    let (own, other) = (try Program(url), try Program(url))
    defer { other.close() }
    let (heard, others) = (Announcements(own), Announcements(other))
    own.close()
    try other.save("b")
    #expect(await others.reach(1))
    #expect(heard.all.isEmpty)
  }
}
