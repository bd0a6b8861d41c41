// Kinds of queues, scheduling, and what may be used where (chapter 13).
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 13: concurrency.
@Suite struct ConcurrencyRuleTests {
  @Test func theKindsHaveCoreDatasNumbers() {
    #expect(ManagedObjectContextConcurrencyType.confinementConcurrencyType.rawValue == 0)
    #expect(ManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect(ManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
    #expect(
      ManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
    #expect(ManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
    #expect(
      ManagedObjectContext.ConcurrencyType(rawValue: .mainQueueConcurrencyType) == .mainQueue)
  }

  @Test func eachPrivateContextHasAQueueOfItsOwn() throws {
    let stack = try Stack()
    let (a, b) = (stack.context(), stack.context())
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    a.perform {
      inside.signal()
      leave.wait()
    }
    inside.wait()
    // The other queue is free while this one is busy.
    let count = b.performAndWait { b.make("Author").text("name")?.count }
    leave.signal()
    #expect(count == 9)
    a.performAndWait {}
  }

  @Test func performReturnsBeforeItsBlockRuns() throws {
    let context = try Stack().context()
    let order = LockedValue<[Int]>([])
    let start = DispatchSemaphore(value: 0)
    context.perform {
      start.wait()
      order.append(2)
    }
    order.append(1)
    start.signal()
    context.performAndWait { order.append(3) }
    #expect(order.value == [1, 2, 3])
  }

  @Test func insideABlockPerformComesAfterIt() throws {
    let context = try Stack().context()
    let order = LockedValue<[Int]>([])
    context.performAndWait {
      context.perform { order.append(3) }
      context.performAndWait { order.append(1) }
      order.append(2)
    }
    context.performAndWait {}
    #expect(order.value == [1, 2, 3])
  }

  @Test @MainActor func immediateRunsNowAndEnqueuedWaitsItsTurn() async throws {
    let context = ManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = try Stack().coordinator
    let order = LockedValue<[Int]>([])
    DispatchQueue.main.async { order.append(2) }
    await context.perform(schedule: .immediate) { order.append(1) }
    await context.perform(schedule: .enqueued) { order.append(3) }
    #expect(order.value == [1, 2, 3])
  }

  @Test @MainActor func aMainQueueContextNeedsNoPerformOnTheMainThread() throws {
    let stack = try Stack()
    let context = ManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let author = context.make("Author", ["name": "Ada"])
    try context.save()
    #expect(author.text("name") == "Ada")
    // Inline: there is nobody else who could run the block.
    #expect(context.performAndWait { author.text("name") } == "Ada")
  }

  @Test func aConfinementContextOfAnotherThreadCannotBeWaitedFor() async {
    await #expect(processExitsWith: .failure) {
      let made = LockedValue<ManagedObjectContext?>(nil)
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        made.with { $0 = ManagedObjectContext(concurrencyType: .confinementConcurrencyType) }
        done.signal()
        // The thread stays, so that no other one gets its number.
        DispatchSemaphore(value: 0).wait()
      }
      thread.start()
      done.wait()
      made.value?.performAndWait {}
    }
  }

  // MARK: What may be used where

  @Test func collectionsBelongToTheQueueToo() async {
    await #expect(processExitsWith: .failure) {
      let context = try Stack().context()
      let books = context.performAndWait {
        (context.make("Author").mutableSetValue(forKey: "books"), context.make("Book"))
      }
      books.0.add(books.1)
    }
  }

  @Test func theCheckCanBeSwitchedOff() async {
    await #expect(processExitsWith: .success) {
      setenv("com.apple.CoreData.ConcurrencyDebug", "0", 1)
      let context = try Stack().context()
      let author = context.make("Author", ["name": "Ada"])
      guard author.text("name") == "Ada" else { exit(1) }
      try context.save()
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func manyContextsReadWhileOthersSave(choice: StoreChoice) async throws {
    let stack = try Stack(in: choice)
    let (writers, rounds) = (4, 10)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        group.addTask {
          let context = stack.context()
          for round in 0..<rounds {
            await context.perform {
              let author = context.make("Author", ["name": "\(writer)"])
              context.make("Book", ["pages": round + 1, "author": author])
              do { try context.save() } catch { Issue.record(error) }
            }
          }
        }
        group.addTask {
          let context = stack.context()
          for _ in 0..<rounds {
            await context.perform {
              do {
                // A save is seen as a whole or not at all.
                for author in try context.all("Author") {
                  #expect(author.many("books").count == 1)
                }
              } catch {
                Issue.record(error)
              }
              context.reset()
            }
          }
        }
      }
    }
    let count = try stack.use { try $0.all("Book").count }
    #expect(count == writers * rounds)
  }

  @Test func theCoordinatorHasASerialQueueAndALock() throws {
    let coordinator = try Stack().coordinator
    let order = LockedValue<[Int]>([])
    let start = DispatchSemaphore(value: 0)
    coordinator.perform {
      start.wait()
      order.append(1)
    }
    coordinator.perform { order.append(2) }
    start.signal()
    coordinator.performAndWait {
      coordinator.performAndWait { order.append(3) }
    }
    #expect(order.value == [1, 2, 3])
    coordinator.lock()
    coordinator.unlock()
    #expect(coordinator.tryLock())
    coordinator.unlock()
  }

  @Test func nameAuthorAndUserInfoArePlainProperties() throws {
    let context = ManagedObjectContext(.privateQueue)
    #expect(context.name == nil && context.transactionAuthor == nil)
    #expect(context.userInfo.count == 0)
    context.name = "n"
    context.transactionAuthor = "a"
    context.userInfo["key"] = 5
    #expect(context.name == "n" && context.transactionAuthor == "a")
    #expect(context.userInfo["key"] as? Int == 5)
  }
}
