// The switch of the confinement check.
import CairnModel
import Foundation
import Testing

@testable import CairnContext

/// Chapter 13: the check is for those who ask for it.
@Suite struct ConcurrencyDebugTests {
  private func asked(_ arguments: [String], _ environment: [String: String] = [:]) -> Bool? {
    ConcurrencyDebug.asked(arguments: ["program"] + arguments, environment: environment)
  }

  @Test func aProgramThatSaysNothingHasNoCheck() {
    #expect(asked([]) == nil)
    #expect(asked(["-com.apple.CoreData.SQLDebug", "1"], ["HOME": "/"]) == nil)
  }

  @Test func theLaunchArgumentOrAVariableTurnsItOnOrOff() {
    let name = "com.apple.CoreData.ConcurrencyDebug"
    for yes in ["1", "3", "YES", "true"] {
      #expect(asked(["-" + name, yes]) == true)
      #expect(asked([], [name: yes]) == true)
      #expect(asked([], ["CAIRN_CONCURRENCY_DEBUG": yes]) == true)
    }
    for no in ["0", "NO", "false", ""] {
      #expect(asked(["-" + name, no]) == false)
      #expect(asked([], [name: no]) == false)
    }
    #expect(asked(["-" + name, "0"], [name: "1"]) == false)
    // Without a value it says nothing, as with user defaults.
    #expect(asked(["-" + name]) == nil)
  }

  @Test func withoutTheSwitchAnotherQueueMayUseAContextInTurn() async {
    await #expect(processExitsWith: .success) {
      unsetenv("com.apple.CoreData.ConcurrencyDebug")
      unsetenv("CAIRN_CONCURRENCY_DEBUG")
      let stack = try Stack()
      let (context, other) = (stack.context(), stack.context())
      let author = context.make("Author", ["name": "Ada"])
      guard author.text("name") == "Ada" else { exit(1) }
      try other.performAndWait { try context.save() }
      let names = try await Task.detached { try context.all("Author").map { $0.text("name") } }
        .value
      guard names == ["Ada"] else { exit(1) }
    }
  }

  @Test func whileItIsOffThreadsMayReadRealisedObjectsOfOneContextAtOnce() async {
    await #expect(processExitsWith: .success) {
      unsetenv("com.apple.CoreData.ConcurrencyDebug")
      unsetenv("CAIRN_CONCURRENCY_DEBUG")
      let stack = try Stack(in: .sqlite)
      let shared = stack.context()
      let ids = try stack.use { context in
        let books = (0..<50).map { context.make("Book", ["title": "\($0)"]) }
        try context.save()
        return books.map(\.objectID)
      }
      // Reads of realised objects change nothing, so no two of them get into each other's way.
      let kept = shared.performAndWait {
        Kept(
          objects: ids.map { id in
            let object = shared.object(with: id)
            _ = object.text("title")
            return object
          })
      }
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for (index, object) in kept.objects.enumerated() {
          if object.text("title") != "\(index)" { exit(1) }
        }
      }
      let count = try stack.use { try $0.all("Book").count }
      guard count == 50 else { exit(1) }
    }
  }

  @Test func theDaemonTurnsItOnUnlessItWasRefused() async {
    await #expect(processExitsWith: .failure) {
      unsetenv("com.apple.CoreData.ConcurrencyDebug")
      unsetenv("CAIRN_CONCURRENCY_DEBUG")
      ConcurrencyDebug.turnOn()
      _ = try Stack().context().make("Author")
    }
    await #expect(processExitsWith: .success) {
      setenv("com.apple.CoreData.ConcurrencyDebug", "0", 1)
      ConcurrencyDebug.turnOn()
      _ = try Stack().context().make("Author")
    }
  }

  @Test func theMessageNamesTheSwitch() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try Stack().context().make("Author")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("-com.apple.CoreData.ConcurrencyDebug 1"))
  }

  /// Objects on their way to other threads.
  // Unchecked: what the tests are about.
  private struct Kept: @unchecked Sendable {
    let objects: [ManagedObject]
  }
}
