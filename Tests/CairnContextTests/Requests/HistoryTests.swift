// Persistent history through a context, and bookkeeping that commits with a save.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

@Suite struct HistoryTests {
  private func history(
    _ context: ManagedObjectContext, after token: PersistentHistoryToken?
  ) throws -> [PersistentHistoryTransaction] {
    let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
    return (result as? PersistentHistoryResult)?.result as? [PersistentHistoryTransaction] ?? []
  }

  @Test func aSaveIsATransactionWithItsAuthorAndChanges() throws {
    let stack = try Stack(history: true)
    try stack.use { context in
      context.transactionAuthor = "me"
      context.name = "import"
      let book = context.make("Book", ["title": "a"])
      try context.save()
      let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      book.setValue("b", forKey: "title")
      try context.save()
      let all = try history(context, after: nil)
      #expect(all.map(\.author) == ["me", "me"] && all.map(\.contextName) == ["import", "import"])
      let after = try history(context, after: token)
      let change = try #require(after.first?.changes?.first)
      #expect(after.count == 1 && change.changeType == .update)
      #expect(change.changedObjectID == book.objectID)
      #expect(change.updatedProperties?.map(\.name) == ["title"])
    }
  }

  @Test func aTransactionCanBeMergedIntoAContext() throws {
    let stack = try Stack(history: true)
    try stack.use { context in
      let book = context.make("Book", ["title": "a"])
      try context.save()
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      try stack.use { other in
        try other.existingObject(with: book.objectID).setValue("b", forKey: "title")
        try other.save()
      }
      for transaction in try history(context, after: token) {
        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      #expect(book.text("title") == "b")
    }
  }

  @Test func historyOfAStoreWithoutHistoryIsAnError() throws {
    try Stack().use { context in
      _ = #expect(throws: CoreDataError.self) { try history(context, after: nil) }
    }
  }

  @Test func bookkeepingCommitsEvenWithoutChangedObjects() throws {
    let stack = try Stack()
    let keeper = try #require(stack.store.capabilities.sidecar)
    let key = SidecarKey(map: "cursors", key: Data([1]))
    try stack.use { context in
      context.addSidecarOperations([.put(key, Data([9]))], for: stack.store)
      try context.save()
      let values = try keeper.sidecarValues(for: [key])
      #expect(values == [Data([9])])
    }
  }

  @Test func aRequirementThatDoesNotHoldFailsTheSaveAndStaysPending() throws {
    let stack = try Stack()
    let key = SidecarKey(map: "cursors", key: Data([1]))
    try stack.use { context in
      context.make("Author")
      context.addSidecarOperations([.require(key, Data([9]))], for: stack.store)
      for _ in 0..<2 {
        let error = #expect(throws: CoreDataError.self) { try context.save() }
        #expect(error?.code == .persistentStoreSaveConflicts)
        #expect(error?.userInfo["CairnSidecarKey"] as? SidecarKey == key)
      }
      context.rollback()
      context.make("Author")
      try context.save()
    }
  }
}
