// Contexts that wait for each other go on: no merge, read or save makes threads wait for ever.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Point by point: who waits for whom (chapters 7.4, 13 and 14).
///
/// Each scene has a process of its own, which a time limit ends: a thread that hangs cannot be
/// stopped otherwise.
@Suite struct WaitingTests {
  @Test func theMainThreadWaitsForAChildThatMergesItsSave() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let child = scene.child(of: scene.main)
        let book = try scene.make("Book", in: scene.main)
        var copy: ManagedObject?
        child.performAndWait {
          // Held, so that the merge reads it.
          copy = child.object(with: book.objectID)
          _ = copy?.text("title")
        }
        for round in 0..<50 {
          book.setValue("\(round)", forKey: "title")
          try scene.main.save()
          let seen = child.performAndWait { copy?.text("title") }
          scene.require(seen == "\(round)", "a change reaches the child")
        }
        child.performAndWait { copy = nil }
      }
    }
  }

  @Test func observersOfTheMergeReadFromTheParent() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let child = scene.child(of: scene.main)
        let read = LockedValue<[String]>([])
        let token = NotificationCenter.default.addObserver(
          forName: ManagedObjectContext.didChangeObjectsNotification, object: child, queue: nil
        ) { notification in
          let inserted = notification.userInfo?["inserted"] as? Set<ManagedObject> ?? []
          for object in inserted { read.with { $0.append(object.text("title") ?? "?") } }
          // In so many words, too.
          scene.main.performAndWait { _ = scene.main.registeredObjects.count }
        }
        for round in 0..<20 {
          scene.main.make("Book", ["title": "\(round)"])
          try scene.main.save()
          child.performAndWait {}
        }
        child.performAndWait {}
        NotificationCenter.default.removeObserver(token)
        scene.require(read.value == (0..<20).map(String.init), "each insertion is read once")
      }
    }
  }

  @Test func aGrandchildMergesWhileItsAncestorsWait() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let child = scene.child(of: scene.main)
        let grandchild = scene.child(of: child)
        let book = try scene.make("Book", in: scene.main)
        grandchild.performAndWait { _ = grandchild.object(with: book.objectID).text("title") }
        for round in 0..<30 {
          try child.performAndWait {
            child.object(with: book.objectID).setValue("\(round)", forKey: "title")
            try child.save()
            _ = grandchild.performAndWait { grandchild.object(with: book.objectID).text("title") }
          }
          try scene.main.save()
          let seen = grandchild.performAndWait {
            grandchild.object(with: book.objectID).text("title")
          }
          scene.require(seen == "\(round)", "a change reaches the grandchild")
        }
      }
    }
  }

  @Test func siblingsMergeEachOthersSaves() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let (a, b) = (scene.child(of: scene.main), scene.child(of: scene.main))
        let book = try scene.make("Book", in: scene.main)
        for context in [a, b] {
          context.performAndWait { _ = context.object(with: book.objectID).text("title") }
        }
        for round in 0..<30 {
          scene.later(on: a) {
            a.object(with: book.objectID).setValue("\(round)", forKey: "title")
            try a.save()
          }
          b.performAndWait { _ = b.object(with: book.objectID).text("title") }
          a.performAndWait {}
          let seen = b.performAndWait { b.object(with: book.objectID).text("title") }
          scene.require(seen == "\(round)", "a sibling's save arrives")
        }
      }
    }
  }

  @Test func aPrivateParentWaitsForItsMainQueueChild() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let parent = scene.stack.context()
        let view = ManagedObjectContext(.mainQueue)
        view.parent = parent
        view.automaticallyMergesChangesFromParent = true
        let id = try parent.performAndWait {
          let book = parent.make("Book", ["title": "old"])
          try parent.save()
          return book.objectID
        }
        _ = view.object(with: id).text("title")
        for round in 0..<30 {
          scene.later(on: parent) {
            parent.object(with: id).setValue("\(round)", forKey: "title")
            try parent.save()
            // The main thread waits for this queue meanwhile.
            view.performAndWait {
              dispatchPrecondition(condition: .onQueue(.main))
              _ = view.object(with: id).text("title")
              _ = try? view.all("Book")
            }
          }
          try view.save()
          _ = try view.all("Book", "title != nil").count
          parent.performAndWait {}
        }
      }
    }
  }

  @Test func aRemoteMergeGoesIntoAContextThatWaits() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let worker = scene.stack.context()
        let book = try scene.make("Book", in: scene.main)
        let id = book.objectID
        for round in 0..<30 {
          scene.later(on: worker) {
            worker.object(with: id).setValue("\(round)", forKey: "title")
            try worker.save()
            ManagedObjectContext.mergeChanges(
              fromRemoteContextSave: ["updated": [id]], into: [scene.main])
          }
          worker.performAndWait {}
          scene.require(book.text("title") == "\(round)", "the merge was done")
          scene.require(!scene.main.hasChanges, "a merge makes nothing dirty")
        }
      }
    }
  }

  @Test func contextsOfOneCoordinatorMergeEachOther() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let worker = scene.stack.context()
        for context in [worker, scene.main] {
          context.automaticallyMergesChangesFromParent = true
        }
        let id = try scene.make("Book", in: scene.main).objectID
        for round in 0..<30 {
          try worker.performAndWait {
            worker.object(with: id).setValue("\(round)", forKey: "title")
            try worker.save()
          }
          scene.main.refresh(scene.main.object(with: id), mergeChanges: true)
          scene.main.object(with: id).setValue(round + 1, forKey: "pages")
          try scene.main.save()
          let pages = worker.performAndWait { worker.object(with: id).number("pages") }
          scene.require(pages == round + 1, "the worker has merged")
        }
      }
    }
  }

  @Test func aChildIsSavedInAnObserverOfItsParentsSave() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let child = scene.child(of: scene.main)
        let book = try scene.make("Book", in: scene.main)
        let id = book.objectID
        child.performAndWait { _ = child.object(with: id).text("title") }
        let token = NotificationCenter.default.addObserver(
          forName: ManagedObjectContext.didSaveObjectsNotification, object: scene.main, queue: nil
        ) { _ in
          child.performAndWait {
            let copy = child.object(with: id)
            copy.setValue((copy.number("pages") ?? 0) + 1, forKey: "pages")
            scene.attempt { try child.save() }
          }
        }
        for round in 0..<20 {
          book.setValue("\(round)", forKey: "title")
          try scene.main.save()
        }
        NotificationCenter.default.removeObserver(token)
        scene.require(book.number("pages") == 21, "each save of the child arrived")
      }
    }
  }

  @Test func blocksMayBeNestedThroughParentAndChild() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let child = scene.child(of: scene.main)
        let id = try scene.make("Book", in: scene.main).objectID
        for round in 0..<20 {
          scene.main.object(with: id).setValue("\(round)", forKey: "title")
          try scene.main.save()
          let count = try scene.main.performAndWait {
            try child.performAndWait {
              try scene.main.performAndWait {
                try child.performAndWait { try child.all("Book").count }
              }
            }
          }
          scene.require(count == 1, "the innermost block gives its result through")
        }
      }
    }
  }

  @Test func anErrorComesThroughABlockThatAnotherThreadRuns() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let worker = scene.stack.context()
        let caught = LockedValue<[String]>([])
        worker.perform {
          do {
            try scene.main.performAndWait { _ = try scene.main.all("Nonsense") }
          } catch {
            caught.with { $0.append("caught") }
          }
        }
        worker.performAndWait {}
        scene.require(caught.value == ["caught"], "the error came through")
      }
    }
  }

  @Test func twoContextsThatWaitForEachOtherGoOn() async {
    await #expect(processExitsWith: .success) {
      try await Scene.play { scene in
        let (a, b) = (scene.stack.context(), scene.stack.context())
        let (insideA, insideB) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = LockedValue<[String]>([])
        a.perform {
          insideA.signal()
          insideB.wait()
          b.performAndWait { order.with { $0.append("b") } }
        }
        b.perform {
          insideB.signal()
          insideA.wait()
          a.performAndWait { order.with { $0.append("a") } }
        }
        a.performAndWait {}
        b.performAndWait {}
        scene.require(order.value.sorted() == ["a", "b"], "both blocks have run")
      }
    }
  }

  @Test func blocksOfAContextNeverRunAtTheSameTime() async throws {
    let stack = try Stack()
    let contexts = (0..<3).map { _ in stack.context() }
    let counts = (0..<3).map { _ in Count() }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<200 {
            let number = (worker + round) % 3
            let context = contexts[number]
            if round % 4 == 0 {
              await context.perform(schedule: .enqueued) { counts[number].value += 1 }
            } else {
              Self.add(to: counts[number], in: context)
            }
          }
        }
      }
    }
    for (context, count) in zip(contexts, counts) {
      context.performAndWait { _ = count.value }
    }
    #expect(counts.map(\.value).reduce(0, +) == 1600)
  }

  /// Waits, which asynchronous code does not do by itself.
  private static func add(to count: Count, in context: ManagedObjectContext) {
    context.performAndWait {
      let before = count.value
      _ = try? context.all("Book").count
      count.value = before + 1
    }
  }

  /// Guarded by nothing but the context's queue.
  private final class Count: @unchecked Sendable {
    var value = 0
  }
}

/// Contexts on the main thread and beside it, in a process that ends when they hang.
// Unchecked: everything is immutable.
private final class Scene: @unchecked Sendable {
  let stack: Stack
  let main: ManagedObjectContext

  private init() throws {
    stack = try Stack()
    main = ManagedObjectContext(.mainQueue)
    main.persistentStoreCoordinator = stack.coordinator
  }

  /// Runs the body on the main thread.
  static func play(_ body: @escaping @Sendable (Scene) throws -> Void) async throws {
    DispatchQueue.global().asyncAfter(deadline: .now() + 120) {
      FileHandle.standardError.write(Data("hangs\n".utf8))
      exit(3)
    }
    try await MainActor.run { try body(Scene()) }
  }

  func child(of parent: ManagedObjectContext) -> ManagedObjectContext {
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    child.automaticallyMergesChangesFromParent = true
    child.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
    return child
  }

  func make(_ entity: String, in context: ManagedObjectContext) throws -> ManagedObject {
    let object = context.make(entity, ["title": "old"])
    try context.save()
    return object
  }

  func later(on context: ManagedObjectContext, _ body: @escaping () throws -> Void) {
    context.perform { self.attempt(body) }
  }

  func attempt(_ body: () throws -> Void) {
    do { try body() } catch { require(false, "\(error)") }
  }

  func require(_ holds: Bool, _ rule: String) {
    if holds { return }
    FileHandle.standardError.write(Data("not so: \(rule)\n".utf8))
    exit(4)
  }
}
