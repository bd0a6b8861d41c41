// Properties that a class has and the model does not, under their names.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

extension Worker {
  enum Mood: Int { case calm, busy }

  var initial: String { String((text("name") ?? "").prefix(1)) }
  var isTall: Bool { (text("name") ?? "").count > 3 }
  var mood: Mood {
    get { nickname == nil ? .calm : .busy }
    set { nickname = newValue == .calm ? nil : "busy" }
  }
  var alias: String? {
    get { nickname }
    set { nickname = newValue }
  }
  func greeting() -> String { "I am \(text("name") ?? "")" }
}

/// Chapters 5 and 23 of the specification: key-value access finds what the class has.
@Suite struct ClassPropertyTests {
  /// What the companion file of this target would say.
  private static let registered: Void = {
    ClassProperties.add("initial", \Worker.initial)
    ClassProperties.add("isTall", \Worker.isTall)
    ClassProperties.add("mood", \Worker.mood)
    ClassProperties.add("alias", \Worker.alias)
    ClassProperties.add("greeting", method: { (object: Worker) in object.greeting() })
    ClassProperties.add("initial", \Other.initial)
  }()

  /// Generated code may not know that a class is none of managed objects.
  private final class Other { var initial = 1 }

  private func use(
    _ names: [String] = ["Ada"], _ body: (ManagedObjectContext, [Worker]) throws -> Void
  ) throws {
    _ = Self.registered
    try WorkshopStack().use { context in
      let workers = names.compactMap { context.make("Worker", ["name": $0]) as? Worker }
      try body(context, workers)
    }
  }

  @Test func aPropertyIsReadByItsName() throws {
    try use { context, workers in
      let ada = workers[0]
      #expect(ada.value(forKey: "initial") as? String == "A")
      #expect(ada.value(forKey: "isTall") as? Bool == false)
      #expect(ada.value(forKey: "tall") as? NSNumber == false, "isTall is the getter of tall")
      #expect(ada.value(forKey: "greeting") as? String == "I am Ada", "a method is a getter")
      #expect(ada.value(forKey: "alias") == nil)
      let piece = context.make("Piece", ["maker": ada])
      #expect(piece.value(forKeyPath: "maker.initial") as? String == "A")
      let read = try ada.readValue(forKey: "initial")
      #expect(read as? String == "A")
    }
  }

  @Test func aPropertyIsSetByItsName() throws {
    try use { context, workers in
      try context.save()
      let ada = workers[0]
      ada.setValue("Countess", forKey: "alias")
      #expect(ada.nickname == "Countess" && ada.value(forKey: "alias") as? String == "Countess")
      ada.setValue(nil, forKey: "alias")
      #expect(ada.nickname == nil)
      ada.setValue(1, forKey: "mood")
      #expect(ada.mood == .busy && ada.value(forKey: "mood") as? Int == 1, "by their raw values")
      #expect(!context.hasChanges, "what the model lacks makes no object dirty")
    }
  }

  @Test func aPropertyThatCannotBeSetIsAnUndefinedKey() async {
    await #expect(processExitsWith: .failure) {
      ClassProperties.add("initial", \Worker.initial)
      try WorkshopStack().use { context in
        context.make("Worker").setValue("B", forKey: "initial")
      }
    }
  }

  @Test func predicatesAndSortKeysInMemoryKnowIt() throws {
    try use(["Bob", "Ada", "Arthur"]) { _, workers in
      let predicate = ObjectPredicate(format: "initial == 'A' AND isTall == YES")
      #expect(workers.filter { predicate.evaluate(with: $0) }.map { $0.text("name") } == ["Arthur"])
      let sort = ObjectSortDescriptor(key: "initial", ascending: false)
      #expect(sort.compare(workers[0], to: workers[1]) == .orderedAscending)
      #expect(sort.compare(workers[1], to: workers[2]) == .orderedSame)
    }
  }

  @Test func itIsTheSectionKeyOfAFetchedResultsController() throws {
    try use(["Bob", "Ada", "Arthur"]) { context, _ in
      try context.save()
      context.reset()
      let request = FetchRequest<ManagedObject>(entityName: "Worker")
      request.sortDescriptors = [ObjectSortDescriptor(key: "name", ascending: true)]
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial",
        cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["A", "B"])
      #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
    }
  }

  @Test func aStoreDoesNotKnowIt() throws {
    try use { context, _ in
      try context.save()
      let sorted = FetchRequest<ManagedObject>(entityName: "Worker")
      sorted.sortDescriptors = [ObjectSortDescriptor(key: "initial", ascending: true)]
      let filtered = FetchRequest<ManagedObject>(entityName: "Worker")
      filtered.predicate = ObjectPredicate(format: "initial == 'A'")
      for request in [sorted, filtered] {
        let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
        #expect(error?.message == "keypath initial not found in entity Worker")
      }
    }
  }
}
