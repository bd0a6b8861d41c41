// Uniqueness constraints under each merge policy (chapter 12.3).
import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnContext

/// Chapter 12.3: uniqueness constraints, as the SQLite store keeps them.
@Suite struct ConstraintRuleTests {
  /// Parts with a unique code, and a shelf that a part may lie on.
  private static func model(_ constraints: [String]...) -> ManagedObjectModel {
    let (part, shelf) = (EntityDescription(name: "Part"), EntityDescription(name: "Shelf"))
    let (parts, place) = (Workshop.toMany("parts"), Workshop.toOne("shelf"))
    Workshop.link(parts, to: part, place, to: shelf)
    part.properties = [
      AttributeDescription(name: "code", type: .string),
      AttributeDescription(name: "maker", type: .string),
      AttributeDescription(name: "name", type: .string),
      AttributeDescription(name: "note", type: .string), place,
    ]
    part.uniquenessConstraints = constraints.isEmpty ? [["code"]] : constraints
    shelf.properties = [AttributeDescription(name: "name", type: .string), parts]
    let model = ManagedObjectModel()
    model.entities = [part, shelf]
    return model
  }

  private func text(_ part: ManagedObject?) -> String {
    ["code", "name", "note"].map { part?.text($0) ?? "-" }.joined(separator: " ")
  }

  /// Saves a part in another context first; hands over the context that saves a second one.
  private func duplicate(
    _ type: MergePolicyType,
    _ check: (ManagedObjectContext, ManagedObject, ManagedObjectID, (any Error)?) throws -> Void
  ) throws {
    let stack = try WorkshopStack(model: Self.model())
    let old = try stack.use { context in
      let part = context.make("Part", ["code": "1", "name": "old", "note": "kept"])
      try context.save()
      return part.objectID
    }
    try stack.use { context in
      context.mergePolicy = MergePolicy(merge: type)
      let new = context.make("Part", ["code": "1", "name": "new"])
      var failure: (any Error)?
      do { try context.save() } catch { failure = error }
      try check(context, new, old, failure)
    }
  }

  @Test func underTheErrorPolicyTheConflictIsThrown() throws {
    try duplicate(.errorMergePolicyType) { context, new, old, error in
      let error = try #require(error as? CoreDataError)
      #expect(error.code == .managedObjectConstraintMerge && context.insertedObjects == [new])
      let conflict = (error.userInfo["conflictList"] as? [ConstraintConflict])?.first
      #expect(conflict?.constraint == ["code"] && conflict?.conflictingObjects == [new])
      #expect(conflict?.constraintValues["code"] as? String == "1")
      #expect(conflict?.databaseObject?.objectID == old)
      #expect(conflict?.databaseSnapshot?["name"] as? String == "old")
    }
  }

  @Test(arguments: [
    (MergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "1 new kept"),
    (.overwriteMergePolicyType, "1 new -"),
    (.mergeByPropertyStoreTrumpMergePolicyType, "1 old kept"),
    (.rollbackMergePolicyType, "1 old kept"),
  ])
  func theExistingIDSurvivesWithTheValuesOfThePolicy(
    type: MergePolicyType, expected: String
  ) throws {
    try duplicate(type) { context, new, old, error in
      #expect(error == nil && !context.hasChanges && new.managedObjectContext == nil)
      let survivor = try #require(try context.all("Part").first)
      #expect(survivor.objectID == old && text(survivor) == expected)
      try Library.reading(context) { reader in
        let parts = try reader.all("Part")
        #expect(parts.map(\.objectID) == [old] && text(parts.first) == expected)
      }
    }
  }

  @Test(arguments: PolicyRuleTests.types.dropFirst())
  func twoNewObjectsBecomeOne(type: MergePolicyType) throws {
    try WorkshopStack(model: Self.model()).use { context in
      context.mergePolicy = MergePolicy(merge: type)
      context.make("Part", ["code": "1", "name": "a"])
      context.make("Part", ["code": "1", "note": "b"])
      context.make("Part", ["code": "2"])
      try context.save()
      #expect(!context.hasChanges)
      try Library.reading(context) { reader in
        let codes = try reader.all("Part", sortedBy: "code").map { $0.text("code") }
        #expect(codes == ["1", "2"])
      }
    }
  }

  @Test func membersOfTheDroppedObjectGoToTheSurvivor() throws {
    let model = Self.model()
    model.entitiesByName["Shelf"]?.uniquenessConstraints = [["name"]]
    let stack = try WorkshopStack(model: model)
    try stack.use { context in
      let shelf = context.make("Shelf", ["name": "top"])
      context.make("Part", ["code": "1", "shelf": shelf])
      try context.save()
    }
    try stack.use { context in
      context.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      let part = context.make(
        "Part", ["code": "2", "shelf": context.make("Shelf", ["name": "top"])])
      try context.save()
      let shelf = try #require(try context.all("Shelf").first)
      #expect(part.one("shelf") === shelf && shelf.many("parts").count == 2)
      let stored = try stack.use { try $0.all("Shelf").map { $0.many("parts").count } }
      #expect(stored == [2])
    }
  }

  @Test func aConstraintOfTwoAttributesNamesBoth() throws {
    try WorkshopStack(model: Self.model(["code", "maker"])).use { context in
      context.make("Part", ["code": "1", "maker": "a"])
      context.make("Part", ["code": "1", "maker": "b"])
      try context.save()
      context.make("Part", ["code": "1", "maker": "b"])
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      let conflict = (error?.userInfo["conflictList"] as? [ConstraintConflict])?.first
      #expect(conflict?.constraint == ["code", "maker"])
      #expect(conflict?.constraintValues["maker"] as? String == "b")
    }
  }

  @Test(arguments: PolicyRuleTests.types.dropFirst(), [true, false])
  func oneObjectIsLeftWhereTwoConstraintsAreViolatedAtOnce(
    type: MergePolicyType, isStored: Bool
  ) throws {
    let stack = try WorkshopStack(model: Self.model(["code"], ["maker"]))
    func make(_ name: String, in context: ManagedObjectContext) {
      context.make("Part", ["code": "1", "maker": "a", "name": name])
    }
    if isStored {
      try stack.use { context in
        make("old", in: context)
        try context.save()
      }
    }
    try stack.use { context in
      context.mergePolicy = MergePolicy(merge: type)
      if !isStored { make("old", in: context) }
      make("new", in: context)
      try context.save()
    }
    let stored = try stack.use { try $0.all("Part").map(text) }
    let storeWins =
      type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
    #expect(isStored ? stored == [storeWins ? "1 old -" : "1 new -"] : stored.count == 1)
  }

  /// It collides with one row by its code and with another by its maker.
  @Test(arguments: [
    (MergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, ["1 new -"]),
    (.mergeByPropertyStoreTrumpMergePolicyType, ["1 one -", "2 two -"]),
  ])
  func anObjectThatCollidesWithTwoRowsTakesThePlaceOfBothOrGoes(
    type: MergePolicyType, expected: [String]
  ) throws {
    let stack = try WorkshopStack(model: Self.model(["code"], ["maker"]))
    try stack.use { context in
      context.make("Part", ["code": "1", "maker": "a", "name": "one"])
      context.make("Part", ["code": "2", "maker": "b", "name": "two"])
      try context.save()
    }
    try stack.use { context in
      context.mergePolicy = MergePolicy(merge: type)
      context.make("Part", ["code": "1", "maker": "b", "name": "new"])
      try context.save()
    }
    #expect(try stack.use { try $0.all("Part", sortedBy: "code").map(text) } == expected)
  }

  @Test(arguments: [
    MergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
  ])
  func aSaveOfWhichNothingRemainsWritesNothing(type: MergePolicyType) throws {
    let stack = try WorkshopStack(model: Self.model())
    try stack.use { context in
      context.make("Part", ["code": "1"])
      try context.save()
    }
    let commits = CommitRecorder()
    stack.coordinator.addObserver(commits)
    try stack.use { context in
      context.mergePolicy = MergePolicy(merge: type)
      let recorder = NotificationRecorder(
        context, ManagedObjectContext.didSaveObjectsNotification)
      context.make("Part", ["code": "1"])
      try context.save()
      #expect(commits.take().isEmpty && !context.hasChanges)
      #expect(recorder.objects(.insertedObjects).isEmpty)
    }
  }

  @Test func anUpdateThatCollidesGivesWayWhenTheStoreWins() throws {
    let stack = try WorkshopStack(model: Self.model())
    try stack.use { context in
      context.mergePolicy = MergePolicy.mergeByPropertyStoreTrump
      context.make("Part", ["code": "1"])
      let second = context.make("Part", ["code": "2", "name": "a"])
      try context.save()
      second.setValue("1", forKey: "code")
      second.setValue("b", forKey: "name")
      try context.save()
      #expect(text(second) == "2 b -" && !context.hasChanges)
      let stored = try stack.use { try $0.all("Part", sortedBy: "code").map(text) }
      #expect(stored == ["1 - -", "2 b -"])
    }
  }

  @Test(arguments: [StoreTypeName.inMemory, StoreTypeName.sqlite])
  func twoSpellingsOfAUniqueTextAreTwoValues(_ type: String) throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model(), storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: folder.fileURL("Parts.sqlite"), options: nil)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for code in ["\u{E9}", "e\u{301}"] { context.make("Part", ["code": code]) }
      try context.save()
      context.make("Part", ["code": "\u{E9}"])
      #expect(throws: CoreDataError.self) { try context.save() }
    }
  }

  @Test func optimisticConflictsAreResolvedBeforeConstraints() throws {
    let stack = try WorkshopStack(model: Self.model())
    try stack.use { context in
      context.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      let part = context.make("Part", ["code": "1", "name": "old"])
      try context.save()
      try stack.use { other in
        try other.existingObject(with: part.objectID).setValue("theirs", forKey: "note")
        try other.save()
      }
      part.setValue("mine", forKey: "name")
      context.make("Part", ["code": "1", "name": "double"])
      try context.save()
      let stored = try stack.use { try $0.all("Part").map(text) }
      #expect(stored == ["1 double theirs"] && text(part) == "1 double theirs")
    }
  }
}
