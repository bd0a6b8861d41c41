// Several stores as one: routing, merging, the row cache, observers and notifications.

import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Synchronization
import TestSupport
import Testing

/// Remembers what a coordinator told it.
// Unchecked is not needed: the only state is inside a mutex.
private final class Listener: CoordinatorObserver {
  struct State {
    var notices: [CommitNotice] = []
    var bySelf = 0
    var removed = 0
  }
  let state = Mutex(State())

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?
  ) {
    state.withLock {
      $0.notices.append(notice)
      if source === self { $0.bySelf += 1 }
    }
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore
  ) {
    state.withLock { $0.removed += 1 }
  }
}

@Suite struct SeveralStoresTests {
  private func memory(
    _ coordinator: PersistentStoreCoordinator, configuration: String? = nil,
    options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    try coordinator.addPersistentStore(
      ofType: StoreTypeName.inMemory, configurationName: configuration, at: nil, options: options)
  }

  private func request(
    _ coordinator: PersistentStoreCoordinator, _ name: String = "Note"
  ) throws -> StoreFetchRequest {
    StoreFetchRequest(entity: try #require(coordinator.managedObjectModel.entitiesByName[name]))
  }

  private func texts(
    _ coordinator: PersistentStoreCoordinator, in stores: [PersistentStore]? = nil,
    _ change: (inout StoreFetchRequest) -> Void
  ) throws -> [String] {
    var request = try request(coordinator)
    change(&request)
    let rows = try #require(try coordinator.fetch(request, in: stores).snapshots)
    return Fixture.texts(rows)
  }

  @Test func withoutStoresAFetchFindsNothing() throws {
    let coordinator = Fixture.coordinator()
    #expect(try texts(coordinator) { _ in }.isEmpty)
    var request = try request(coordinator)
    request.result = .count
    #expect(try coordinator.fetch(request).count == 0)
    #expect(
      Fixture.code { _ = try coordinator.storeForInserting(request.entity) }
        == .persistentStoreSave)
  }

  @Test func theUnionIsSortedAndThenCut() throws {
    let coordinator = Fixture.coordinator()
    let stores = [try memory(coordinator), try memory(coordinator)]
    try Fixture.insert(["d", "a", "f"], into: stores[0], of: coordinator)
    try Fixture.insert(["c", "b", "e"], into: stores[1], of: coordinator)
    let sort = [ObjectSortDescriptor(key: "text", ascending: true)]
    #expect(
      try texts(coordinator) { $0.sortDescriptors = sort } == ["a", "b", "c", "d", "e", "f"])
    let cut = try texts(coordinator) {
      $0.sortDescriptors = sort
      $0.offset = 1
      $0.limit = 3
    }
    #expect(cut == ["b", "c", "d"])
    #expect(
      try texts(coordinator, in: [stores[1]]) { $0.sortDescriptors = sort } == ["b", "c", "e"])
    let filtered = try texts(coordinator) {
      $0.sortDescriptors = sort
      $0.predicate = ObjectPredicate(format: "text > 'b' AND text < 'e'")
    }
    #expect(filtered == ["c", "d"])
  }

  @Test func countsAndAggregatesGoAcrossStores() throws {
    let coordinator = Fixture.coordinator()
    for _ in 0..<2 {
      try Fixture.insert(["a", "b"], into: memory(coordinator), of: coordinator)
    }
    var request = try request(coordinator)
    request.result = .count
    request.offset = 1
    request.limit = 10
    let count = try #require(try coordinator.fetch(request).count)
    #expect(count == 3)
    request.offset = 0
    request.limit = 0
    request.sortDescriptors = [ObjectSortDescriptor(key: "text", ascending: true)]
    request.result = .dictionaries(
      .init(
        columns: [
          .init(key: "text", expression: ObjectExpression(forKeyPath: "text"), type: .string),
          .init(
            key: "n", expression: ObjectExpression(format: "count:(text)"), type: .integer64),
        ], groupBy: [ObjectExpression(forKeyPath: "text")]))
    let rows = try #require(try coordinator.fetch(request).dictionaries)
    #expect(
      rows == [
        ["text": .string("a"), "n": .integer(2)], ["text": .string("b"), "n": .integer(2)],
      ])
  }

  @Test func configurationsDecideWhereObjectsLive() throws {
    let coordinator = Fixture.coordinator()
    let tags = try memory(coordinator, configuration: "Tags")
    let notes = try memory(coordinator, configuration: "Notes")
    let model = coordinator.managedObjectModel
    let note = try #require(model.entitiesByName["Note"])
    let tag = try #require(model.entitiesByName["Tag"])
    #expect(try coordinator.storeForInserting(note) === notes)
    #expect(try coordinator.storeForInserting(tag) === tags)
    #expect(notes.configurationName == "Notes")
  }

  @Test func uRIsLeadBackToTheID() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(coordinator)
    let row = try #require(
      try Fixture.insert(["a"], into: store, of: coordinator).first)
    let uri = row.objectID.uriRepresentation()
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == row.objectID)
    for text in [
      "x-coredata://\(UUID().uuidString)/Note/p1",
      "x-coredata://\(store.identity.identifier)/Nonsense/p1",
      "x-coredata://\(store.identity.identifier)/Note/t1", "https://example.org/Note/p1",
      "x-coredata://\(store.identity.identifier)/Note",
    ] {
      let url = try #require(URL(string: text))
      #expect(coordinator.managedObjectID(forURIRepresentation: url) == nil, "\(text)")
    }
    try coordinator.remove(store)
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
  }

  @Test func snapshotsComeFromTheCacheWhileTheyAreYoungEnough() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(coordinator)
    let row = try #require(try Fixture.insert(["a"], into: store, of: coordinator).first)
    coordinator.retainRows([row.objectID])
    // A program writes past the coordinator.
    var request = SaveChangesRequest()
    let slot = try #require(row.objectID.entity.layout.slotByName["text"])
    var values = row.values
    values[slot] = .string("b")
    request.updates = [
      .init(
        snapshot: .make(objectID: row.objectID, version: row.version, values: values),
        changedSlots: [slot])
    ]
    _ = try store.save(request)
    let cached = try coordinator.snapshots(for: [row.objectID]).compactMap(\.self)
    #expect(Fixture.texts(cached) == ["a"])
    let fresh = try coordinator.snapshots(for: [row.objectID], maximumAge: 0).compactMap(\.self)
    #expect(Fixture.texts(fresh) == ["b"])
    #expect(coordinator.cachedSnapshot(for: row.objectID).map { Fixture.texts([$0]) } == ["b"])
    coordinator.releaseRows([row.objectID])
    #expect(coordinator.cachedSnapshot(for: row.objectID) == nil)
  }

  @Test func aDeletedRowLeavesTheCache() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(coordinator)
    let row = try #require(try Fixture.insert(["a"], into: store, of: coordinator).first)
    coordinator.retainRows([row.objectID])
    var request = SaveChangesRequest()
    request.deletions = [.init(snapshot: row)]
    _ = try coordinator.save(request, in: store)
    #expect(coordinator.cachedSnapshot(for: row.objectID) == nil)
    #expect(try coordinator.snapshots(for: [row.objectID]).allSatisfy { $0 == nil })
  }

  @Test func observersLearnWhatWasCommittedAndByWhom() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(coordinator)
    let listener = Listener()
    coordinator.addObserver(listener)
    let rows = try Fixture.insert(["a", "b"], into: store, of: coordinator, by: listener)
    try Fixture.insert(["c"], into: store, of: coordinator)
    let state = listener.state.withLock { $0 }
    #expect(state.notices.map(\.inserted.count) == [2, 1])
    #expect(state.notices.first?.inserted == rows.map(\.objectID))
    #expect(state.bySelf == 1)
    try coordinator.remove(store)
    #expect(listener.state.withLock { $0.removed } == 1)
  }

  @Test func addingAndRemovingIsAnnounced() throws {
    let coordinator = Fixture.coordinator()
    let names = Mutex<[String]>([])
    let center = NotificationCenter.default
    let tokens = [
      center.addObserver(
        forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
      ) { note in
        let keys = (note.userInfo ?? [:]).keys.compactMap { $0 as? String }
        names.withLock { $0 += keys }
      },
      center.addObserver(
        forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
      ) { note in
        guard let store = note.object as? PersistentStore,
          store.persistentStoreCoordinator === coordinator
        else { return }
        names.withLock { $0.append("will remove") }
      },
    ]
    defer { for token in tokens { center.removeObserver(token) } }
    let store = try memory(coordinator)
    #expect(store.persistentStoreCoordinator === coordinator)
    try coordinator.remove(store)
    #expect(names.withLock { $0 } == ["added", "will remove", "removed"])
    #expect(store.persistentStoreCoordinator == nil)
    #expect(Fixture.code { try coordinator.remove(store) } == .coreData)
  }

  @Test func remoteChangesAreAnnouncedWithAToken() async throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(
      coordinator,
      options: [
        StoreOptionKey.remoteChangeNotification: NSNumber(value: true),
        StoreOptionKey.historyTracking: NSNumber(value: true),
      ])
    let (tokens, feed) = AsyncStream.makeStream(of: PersistentHistoryToken?.self)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { note in
      #expect(note.userInfo?["NSStoreUUID"] as? String == store.identity.identifier)
      feed.yield(note.userInfo?["historyToken"] as? PersistentHistoryToken)
      feed.finish()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try Fixture.insert(["a"], into: store, of: coordinator)
    var seen: [PersistentHistoryToken?] = []
    for await token in tokens { seen.append(token) }
    #expect(seen.count == 1)
    #expect(seen.first??.number(for: store) == 1)
    #expect(seen.first == coordinator.currentPersistentHistoryToken(fromStores: nil))
  }

  @Test func historyTokensSurviveArchiving() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(
      coordinator, options: [StoreOptionKey.historyTracking: NSNumber(value: true)])
    try Fixture.insert(["a"], into: store, of: coordinator)
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: [store]))
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: token, requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: PersistentHistoryToken.self, from: data)
    #expect(copy == token)
  }

  @Test func metadataAlwaysHasTypeAndUUID() throws {
    let coordinator = Fixture.coordinator()
    let store = try memory(coordinator)
    coordinator.setMetadata(["mine": "yes", "NSStoreUUID": "nonsense"], for: store)
    let metadata = coordinator.metadata(for: store)
    #expect(metadata["mine"] as? String == "yes")
    #expect(metadata["NSStoreUUID"] as? String == store.identity.identifier)
    #expect(metadata["NSStoreType"] as? String == "InMemory")
  }

  @Test func theCacheKeepsWhatIsHeldAndForgetsTheRest() throws {
    let coordinator = Fixture.coordinator()
    let stores = [try memory(coordinator), try memory(coordinator)]
    let texts = (0..<1500).map { "\($0)" }
    let held = try Fixture.insert(texts, into: stores[0], of: coordinator).map(\.objectID)
    let tags = try Fixture.insert(["t"], entity: "Tag", into: stores[1], of: coordinator)
      .map(\.objectID)
    let loose = try Fixture.insert(texts, into: stores[1], of: coordinator).map(\.objectID)
    // IDs of several stores and entities in turn.
    let mixed = [tags[0]] + held + tags
    coordinator.retainRows(mixed)
    // A read after many unclaimed rows sweeps those of earlier reads.
    _ = try #require(try coordinator.fetch(request(coordinator)).snapshots)
    _ = try coordinator.fetch(request(coordinator, "Tag"))
    #expect(held.allSatisfy { coordinator.cachedSnapshot(for: $0) != nil })
    #expect(try coordinator.snapshots(for: loose).allSatisfy { $0 != nil })
    coordinator.releaseRows(held)
    #expect(held.allSatisfy { coordinator.cachedSnapshot(for: $0) == nil })
    coordinator.releaseRows([tags[0]])
    #expect(coordinator.cachedSnapshot(for: tags[0]) != nil)
    coordinator.releaseRows([tags[0]])
    #expect(coordinator.cachedSnapshot(for: tags[0]) == nil)
  }

  @Test func theQueueRunsBlocksInlineAndAwaited() async throws {
    let coordinator = Fixture.coordinator()
    #expect(coordinator.performAndWait { coordinator.performAndWait { 1 } } == 1)
    #expect(await coordinator.perform { 2 } == 2)
    await #expect(throws: CoreDataError.self) {
      try await coordinator.perform { () throws -> Void in throw CoreDataError(.coreData, "x") }
    }
  }
}
