// Queues, scheduling and the check for the wrong one (chapter 13).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 13: concurrency.
@Suite struct ConfinementTests {
  @Test func anImmediateBlockRunsInlineOnTheQueue() async throws {
    let context = try Stack().context()
    let order = LockedValue<[Int]>([])
    await context.perform {
      context.performAndWait {
        order.append(1)
        context.performAndWait { order.append(2) }
        order.append(3)
      }
    }
    #expect(order.value == [1, 2, 3])
  }

  @Test func anEnqueuedBlockWaitsForWhatIsQueued() async throws {
    let context = try Stack().context()
    let order = LockedValue<[Int]>([])
    for number in 1...2 { enqueue(on: context) { order.append(number) } }
    await context.perform(schedule: .enqueued) { order.append(3) }
    #expect(order.value == [1, 2, 3])
  }

  /// Chooses the form that does not wait, outside of asynchronous code.
  private func enqueue(on context: ManagedObjectContext, _ block: @escaping () -> Void) {
    context.perform(block)
  }

  @Test func performAndWaitGivesResultsAndErrorsThrough() throws {
    let context = try Stack().context()
    let count = try context.performAndWait { try context.all("Author").count }
    #expect(count == 0)
    #expect(throws: (any Error).self) {
      try context.performAndWait { _ = try context.all("Nonsense") }
    }
  }

  @Test func objectIDsMayGoAnywhere() async throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let author = context.make("Author", ["name": "Ada"])
      try context.save()
      return author.objectID
    }
    let context = stack.context()
    let name = await context.perform { context.object(with: id).text("name") }
    #expect(name == "Ada")
  }

  @Test func useOfAnObjectFromAnotherQueueTrapsAndNamesBothContexts() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      let (a, b) = (stack.context(), stack.context())
      (a.name, b.name) = ("first", "second")
      let kept = a.performAndWait { Kept(object: a.make("Author")) }
      b.performAndWait { kept.object.setValue("x", forKey: "name") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"first\" belongs to its private queue"))
    #expect(text.contains("was used from the private queue of \"second\" context"))
  }

  @Test func mainQueueContextsTrapElsewhere() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = try Stack().coordinator
      DispatchQueue.global().sync {}
      await Task.detached { context.processPendingChanges() }.value
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("belongs to the main queue and was used from"))
  }

  @Test func aConfinementContextHasNoPerform() async {
    await #expect(processExitsWith: .failure) {
      ManagedObjectContext(concurrencyType: .confinementConcurrencyType).perform {}
    }
  }

  @Test func aConfinementContextHasNoPerformOnItsOwnThreadEither() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      await context.perform {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can only use -performBlock:"))
  }

  @Test func anObjectThatWasSavedCannotBeAssignedToAnotherStore() async {
    await #expect(processExitsWith: .failure) {
      let (stack, other) = (try Stack(), try Stack())
      try stack.use { context in
        let author = context.make("Author")
        context.assign(author, to: stack.store)
        try context.save()
        context.assign(author, to: stack.store)
        context.assign(author, to: other.store)
      }
    }
  }

  @Test @available(*, deprecated) func aConfinementContextBelongsToItsThreadAndHasALock() throws {
    let stack = try Stack()
    let done = DispatchSemaphore(value: 0)
    let seen = LockedValue<[Int]>([])
    let thread = Thread {
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = stack.coordinator
      context.lock()
      context.make("Author")
      if context.tryLock() { context.unlock() }
      context.unlock()
      if (try? context.save()) != nil { seen.append(context.registeredObjects.count) }
      done.signal()
    }
    thread.start()
    #expect(done.wait(timeout: .now() + 240) == .success)
    #expect(seen.value == [0])
  }

  private func copy(of context: ManagedObjectContext) throws -> ManagedObjectContext? {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: context, requiringSecureCoding: false)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    let copy =
      unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? ManagedObjectContext
    #expect((copy == nil) == (unarchiver.error != nil))
    return copy
  }

  @Test func noArchiveMakesAContextTrap() throws {
    let context = ManagedObjectContext(.privateQueue)
    context.shouldDeleteInaccessibleFaults = false
    #expect(try #require(try copy(of: context)).shouldDeleteInaccessibleFaults)
    let confined = ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    #expect(try copy(of: confined) == nil)
  }

  @Test func aContextSurvivesAnArchive() throws {
    let context = ManagedObjectContext(.mainQueue)
    context.name = "view"
    context.transactionAuthor = "me"
    context.mergePolicy = MergePolicy.overwrite
    context.stalenessInterval = 7
    context.retainsRegisteredObjects = true
    let copy = try #require(try copy(of: context))
    #expect(copy.concurrencyType == .mainQueueConcurrencyType && copy.name == "view")
    #expect(copy.transactionAuthor == "me" && copy.stalenessInterval == 7)
    #expect((copy.mergePolicy as? MergePolicy)?.mergeType == .overwriteMergePolicyType)
    #expect(copy.retainsRegisteredObjects && copy.persistentStoreCoordinator == nil)
  }
}
