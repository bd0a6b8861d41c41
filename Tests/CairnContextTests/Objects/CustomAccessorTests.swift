// Accessors and rules that a class brings itself.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapters 5 and 10.2 of the specification: custom accessors and `validate<Key>`.
@Suite struct CustomAccessorTests {
  private func use(_ body: (ManagedObjectContext, Worker) throws -> Void) throws {
    try WorkshopStack().use { context in
      let worker = try #require(context.make("Worker") as? Worker)
      try body(context, worker)
    }
  }

  @Test func keyValueAccessGoesThroughACustomAccessor() throws {
    try use { _, worker in
      worker.setValue(12, forKey: "code")
      worker.codeReads = 0
      #expect(worker.value(forKey: "code") as? Int32 == 12 && worker.codeReads == 1)
      #expect(ObjectPredicate(format: "code == 12").evaluate(with: worker))
      #expect(worker.codeReads == 2)
    }
  }

  @Test func aChangeInACustomAccessorCountsAndIsSaved() throws {
    try use { context, worker in
      try context.save()
      worker.code = 3
      #expect(worker.changedValues().keys.sorted() == ["code"])
      try context.save()
      context.refresh(worker, mergeChanges: false)
      #expect(worker.code == 3)
    }
  }

  @Test func nilForAScalarAsksTheClass() throws {
    try use { _, worker in
      worker.setValue(5, forKey: "code")
      worker.setValue(nil, forKey: "code")
      #expect(worker.code == 0)
    }
  }

  @Test func nilForAScalarTrapsUnlessTheClassAnswers() async {
    await #expect(processExitsWith: .failure) {
      try WorkshopStack().use { context in
        context.make("Worker").setNilValueForKey("age")
      }
    }
  }

  @Test func keysOutsideTheModelReachTheClass() throws {
    try use { context, worker in
      worker.setValue("ada", forKey: "name")
      #expect(worker.value(forKey: "shout") as? String == "ADA")
      try context.save()
      worker.setValue("A", forKey: "nickname")
      #expect(worker.value(forKey: "nickname") as? String == "A")
      worker.setValue(nil, forKey: "nickname")
      #expect(worker.nickname == nil)
      #expect(!context.hasChanges, "properties outside the model do not make an object dirty")
    }
  }

  @Test func aRuleOfTheClassMayReplaceTheValue() throws {
    try use { context, worker in
      worker.setValue("  Ada ", forKey: "name")
      try context.save()
      #expect(worker.text("name") == "Ada")
    }
  }

  @Test func whatARuleOfTheClassThrowsIsTheSavesError() throws {
    try use { context, worker in
      worker.setValue("nobody", forKey: "name")
      #expect(throws: Worker.Rejected.self) { try context.save() }
      context.make("Worker", ["name": "nobody"])
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      let details = error?.userInfo["NSDetailedErrors"] as? [NSError]
      #expect(details?.map(\.domain) == ["Workshop", "Workshop"])
      #expect(details?.map(\.code) == [7, 7])
    }
  }

  @Test func aRuleOfTheClassRunsOnlyAfterTheModels() throws {
    try use { _, worker in
      var value: Any? = "nobody"
      #expect(throws: Worker.Rejected.self) { try worker.validateValue(&value, forKey: "name") }
      value = " x "
      try worker.validateValue(&value, forKey: "name")
      #expect(value as? String == "x")
      #expect(worker.text("name") == nil, "validating a value does not set it")
    }
  }

  @Test func anAnnouncedChangeOfAToOneMaintainsTheInverse() throws {
    try WorkshopStack().use { context in
      let (a, b) = (context.make("Worker"), context.make("Worker"))
      let piece = context.make("Piece", ["maker": a])
      piece.willChangeValue(forKey: "maker")
      piece.setPrimitiveValue(b, forKey: "maker")
      piece.didChangeValue(forKey: "maker")
      #expect(a.many("pieces").isEmpty && b.many("pieces") == [piece])
      #expect(piece.one("maker") === b)
    }
  }

  @Test func anAnnouncedChangeOfAToManyMaintainsTheInverse() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      let (a, b) = (context.make("Piece"), context.make("Piece"))
      worker.setValue(Set([a]), forKey: "pieces")
      worker.willChangeValue(forKey: "pieces", withSetMutation: .set, using: [b])
      let set = try #require(worker.primitiveValue(forKey: "pieces") as? NSMutableSet)
      set.remove(a)
      set.add(b)
      #expect(a.one("maker") === worker, "the inverse follows when the change ends")
      worker.didChangeValue(forKey: "pieces", withSetMutation: .set, using: [b])
      #expect(a.one("maker") == nil && b.one("maker") === worker)
      #expect(worker.many("pieces") == [b])
    }
  }
}
