// Which queue a context's blocks run on.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@Suite struct QueueTests {
  @Test func performAndWaitMayBeNestedThroughAnotherContext() throws {
    let stack = try Stack()
    let (a, b) = (stack.context(), stack.context())
    let count = try a.performAndWait {
      try b.performAndWait {
        try a.performAndWait { try a.all("Author").count }
      }
    }
    #expect(count == 0)
  }

  @Test func asyncPerformReturnsTheBlocksResultAndError() async throws {
    let context = try Stack().context()
    let name = await context.perform { context.make("Author").text("name") }
    #expect(name == "Anonymous")
    await #expect(throws: CoreDataError.self) {
      try await context.perform { _ = try context.all("Nonsense") }
    }
  }

  @Test func performProcessesPendingChangesAtItsEnd() async throws {
    let context = try Stack().context()
    let recorder = NotificationRecorder(
      context, ManagedObjectContext.didChangeObjectsNotification)
    await context.perform { _ = context.make("Author") }
    let count = await context.perform { recorder.notifications.count }
    #expect(count == 1)
  }

  @Test func performAndWaitLeavesTheEventOpen() throws {
    let context = try Stack().context()
    let recorder = NotificationRecorder(
      context, ManagedObjectContext.didChangeObjectsNotification)
    context.performAndWait { _ = context.make("Author") }
    #expect(recorder.notifications.isEmpty)
  }

  @Test func aMainQueueContextWorksOnTheMainActor() async throws {
    let stack = try Stack()
    let context = ManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let count = try await MainActor.run {
      context.make("Author")
      try context.save()
      return try context.all("Author").count
    }
    #expect(count == 1)
  }

  @Test func useFromAnotherQueueTrapsAndNamesBoth() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      context.name = "worker"
      _ = context.make("Author")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"worker\" belongs to its private queue and was used from"))
  }
}
