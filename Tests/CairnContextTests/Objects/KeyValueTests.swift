// Values by key and by key path.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 5 of the specification, access by key; chapter 24.5, collection operators.
@Suite struct KeyValueTests {
  /// A worker with three pieces.
  private func worker(in context: ManagedObjectContext) -> ManagedObject {
    let worker = context.make("Worker", ["name": "Ada"])
    for (title, weight) in [("axe", 3.0), ("hammer", 12), ("hammer", 3)] {
      context.make("Piece", ["title": title, "weight": weight, "maker": worker])
    }
    return worker
  }

  @Test func operatorsApplyToTheCollectionOnTheirLeft() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      #expect(worker.value(forKeyPath: "pieces.@count") as? Int == 3)
      #expect(worker.value(forKeyPath: "pieces.@sum.weight") as? Double == 18)
      #expect(worker.value(forKeyPath: "pieces.@avg.weight") as? Double == 6)
      #expect(worker.value(forKeyPath: "pieces.@min.weight") as? Double == 3)
      #expect(worker.value(forKeyPath: "pieces.@max.weight") as? Double == 12)
      let all = worker.value(forKeyPath: "pieces.@unionOfObjects.title") as? [String]
      #expect(all?.sorted() == ["axe", "hammer", "hammer"])
      let distinct = worker.value(forKeyPath: "pieces.@distinctUnionOfObjects.title") as? [String]
      #expect(distinct?.sorted() == ["axe", "hammer"])
    }
  }

  @Test func operatorsOverNestedCollectionsUniteThem() throws {
    try WorkshopStack().use { context in
      let teacher = context.make("Worker")
      let students = [worker(in: context), worker(in: context)]
      teacher.setValue(NSOrderedSet(array: students), forKey: "students")
      let path = "students.@distinctUnionOfSets.pieces"
      #expect((teacher.value(forKeyPath: path) as? NSSet)?.count == 6)
      let titles = teacher.value(forKeyPath: "students.@distinctUnionOfArrays.pieces.title")
      #expect((titles as? [String])?.sorted() == ["axe", "hammer"])
    }
  }

  @Test func ofAnEmptyCollectionTheSumIsZeroAndThereIsNoMinimum() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      #expect(worker.value(forKeyPath: "pieces.@sum.weight") as? Int == 0)
      #expect(worker.value(forKeyPath: "pieces.@max.weight") == nil)
    }
  }

  @Test func aStepOverASetGivesTheSetOfItsMembersValues() throws {
    try WorkshopStack().use { context in
      let titles = worker(in: context).value(forKeyPath: "pieces.title")
      #expect(titles as? Set<String> == ["axe", "hammer"])
    }
  }

  @Test func aStepOverAnOrderedSetKeepsTheOrder() throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let parts = ["b", "a", "c"].map { context.make("Piece", ["title": $0]) }
      whole.setValue(NSOrderedSet(array: parts), forKey: "parts")
      let titles = whole.value(forKeyPath: "parts.title") as? NSOrderedSet
      #expect(titles?.array as? [String] == ["b", "a", "c"])
    }
  }

  @Test func aCollectionGivesItsMembersValuesInACollectionOfItsKind() throws {
    try WorkshopStack().use { context in
      let titles: [String?] = ["b", nil, "b"]
      let pieces = titles.map { context.make("Piece", ["title": $0]) }
      let inArray = (pieces as NSArray).value(forKey: "title")
      #expect(inArray as? NSArray == ["b", NSNull(), "b"])
      #expect(NSSet(array: pieces).value(forKey: "title") as? Set<String> == ["b"])
      let inOrderedSet = NSOrderedSet(array: pieces).value(forKey: "title") as? NSOrderedSet
      #expect(inOrderedSet?.array as? [String] == ["b"])
      // A column of a fetch for dictionaries.
      let rows: NSArray = [["maker.name": "Ada"]]
      #expect(rows.value(forKey: "maker.name") as? [String] == ["Ada"])
    }
  }

  @Test func operatorsApplyToACollectionThatIsAskedItself() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      let pieces = worker.mutableSetValue(forKey: "pieces")
      #expect(pieces.value(forKeyPath: "@sum.weight") as? Double == 18)
      #expect((pieces.allObjects as NSArray).value(forKey: "@count") as? Int == 3)
      let names = ([worker, worker] as NSArray).value(forKeyPath: "@distinctUnionOfObjects.name")
      #expect(names as? [String] == ["Ada"])
      #expect(NSOrderedSet(array: [worker]).value(forKeyPath: "@max.name") as? String == "Ada")
    }
  }

  @Test func settingAKeyOfACollectionSetsEachMembersValue() throws {
    try WorkshopStack().use { context in
      let pieces = [context.make("Piece"), context.make("Piece")]
      (pieces as NSArray).setValue("a", forKey: "title")
      #expect((pieces as NSArray).value(forKey: "title") as? [String] == ["a", "a"])
      NSSet(array: pieces).setValue("b", forKey: "title")
      #expect((pieces as NSArray).value(forKey: "title") as? [String] == ["b", "b"])
    }
  }

  @Test func aStepFromNilIsNilAndSettingThroughItDoesNothing() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      #expect(piece.value(forKeyPath: "maker.partner.name") == nil)
      piece.setValue("x", forKeyPath: "maker.name")
      #expect(piece.one("maker") == nil)
    }
  }

  @Test func settingThroughAToManySetsEachMembersValue() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      worker.setValue(5, forKeyPath: "pieces.weight")
      #expect(worker.value(forKeyPath: "pieces.@sum.weight") as? Double == 15)
    }
  }

  @Test func plainValuesHaveFewPropertiesOfTheirOwn() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      #expect(worker.value(forKeyPath: "name.length") as? Int == 3)
    }
  }

  @Test func severalValuesAreReadAndSetAtOnceWithNullForNil() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece", ["title": "a", "weight": 2.0])
      piece.setValuesForKeys(["title": NSNull(), "weight": 7])
      let values = piece.dictionaryWithValues(forKeys: ["title", "weight", "maker"])
      #expect(values["title"] is NSNull && values["maker"] is NSNull)
      #expect(values["weight"] as? Double == 7)
    }
  }

  @Test func aSubclassAnswersForKeysThatTheModelLacks() throws {
    try WorkshopStack().use { context in
      #expect(context.make("Worker").value(forKey: "species") as? String == "human")
    }
  }

  @Test func anObjectTellsItsOwnStateByKeyWithoutFiringAFault() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece", ["title": "a"])
      for key in ["isInserted", "inserted", "hasChanges", "hasPersistentChangedValues"] {
        #expect(piece.value(forKey: key) as? Bool == true, "\(key)")
      }
      #expect(try ObjectPredicate.parse("hasChanges == YES AND isFault == NO").test(piece))
      try context.save()
      context.refresh(piece, mergeChanges: false)
      for key in ["isInserted", "isUpdated", "isDeleted", "hasChanges"] {
        #expect(piece.value(forKey: key) as? Bool == false, "\(key)")
      }
      #expect(piece.value(forKey: "isFault") as? Bool == true)
      #expect(piece.value(forKey: "faultingState") as? Int == 1)
      #expect(piece.value(forKey: "managedObjectContext") as? ManagedObjectContext === context)
      #expect(piece.value(forKey: "hash") as? Int == piece.hash)
      #expect(piece.value(forKey: "description") as? String == piece.description)
      #expect(piece.isFault)
    }
  }

  @Test func anUnknownKeyTraps() async {
    await #expect(processExitsWith: .failure) {
      try WorkshopStack().use { context in
        _ = context.make("Piece").value(forKey: "nothing")
      }
    }
  }

  @Test func aValueOfTheWrongClassTraps() async {
    await #expect(processExitsWith: .failure) {
      try WorkshopStack().use { context in
        context.make("Piece").setValue("heavy", forKey: "weight")
      }
    }
  }

  @Test func relationshipsReadAsSetsOfBothWorlds() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      #expect((worker.value(forKey: "pieces") as? NSSet)?.count == 3)
      #expect((worker.value(forKey: "pieces") as? Set<ManagedObject>)?.count == 3)
      #expect(worker.value(forKey: "students") is NSOrderedSet)
    }
  }

  @Test func nilAndASetOfFoundationAreAcceptedForAToMany() throws {
    try WorkshopStack().use { context in
      let worker = worker(in: context)
      worker.setValue(NSSet(array: Array(worker.many("pieces").prefix(1))), forKey: "pieces")
      #expect(worker.many("pieces").count == 1)
      worker.setValue(nil, forKey: "pieces")
      #expect(worker.many("pieces").isEmpty)
    }
  }

  @Test func aPrimitiveValueFiresNoFault() throws {
    let stack = try WorkshopStack()
    try stack.use { context in
      _ = worker(in: context)
      try context.save()
    }
    try stack.use { context in
      let piece = try #require(try context.all("Piece", "title == 'axe'").first)
      #expect(piece.primitiveValue(forKey: "title") == nil && piece.isFault)
      piece.willAccessValue(forKey: nil)
      #expect(!piece.isFault && piece.primitiveValue(forKey: "title") as? String == "axe")
    }
  }
}
