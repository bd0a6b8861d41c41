// When objects are validated and how errors are gathered, rule by rule (chapter 10).
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 10: validation.
@Suite struct ValidationRuleTests {
  // MARK: 10.1

  @Test func assignmentsAreNeverValidatedAndSavesAlways() throws {
    try Stack().use { context in
      let book = context.make("Book")
      try context.save()
      book.setValue(-5, forKey: "pages")
      #expect(book.number("pages") == -5)
      #expect(throws: CoreDataError.self) { try book.validateForUpdate() }
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationNumberTooSmall)
    }
  }

  @Test func deletedObjectsAreAskedForTheirDenyRulesOnly() throws {
    try Stack().use { context in
      let author = context.make("Author")
      try context.save()
      author.setValue(nil, forKey: "name")
      #expect(throws: CoreDataError.self) { try author.validateForUpdate() }
      context.delete(author)
      try author.validateForDelete()
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func unchangedObjectsAreNotValidated() throws {
    let stack = try WorkshopStack(model: Judge.model())
    try stack.use { context in
      let judge = try #require(context.make("Judge") as? Judge)
      let other = context.make("Judge", ["name": "x"])
      try context.save()
      judge.asked = []
      other.setValue("y", forKey: "name")
      try context.save()
      #expect(judge.asked.isEmpty)
      judge.setValue("z", forKey: "name")
      try context.save()
      context.delete(judge)
      try context.save()
      #expect(judge.asked == ["update", "delete"])
    }
  }

  // MARK: 10.2

  @Test func overridesAddTheirErrorsToThoseOfTheModel() throws {
    try WorkshopStack(model: Judge.model()).use { context in
      let judge = try #require(context.make("Judge", ["rank": 0]) as? Judge)
      judge.verdict = NSError(domain: "Judge", code: 7)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMultipleErrors)
      let details = error?.userInfo["NSDetailedErrors"] as? [NSError] ?? []
      #expect(details.map(\.code).sorted() == [7, 1620], "nested lists are unpacked")
      judge.verdict = nil
      judge.setValue(1, forKey: "rank")
      try context.save()
    }
  }

  @Test func theFirstPredicateThatFailsSpeaksForItsProperty() throws {
    try Stack().use { context in
      let book = context.make("Book", ["pages": 0])
      var value: Any? = 0
      let error = #expect(throws: CoreDataError.self) {
        try book.validateValue(&value, forKey: "pages")
      }
      #expect(error?.code == .validationNumberTooSmall)
      value = 3
      try book.validateValue(&value, forKey: "pages")
      #expect(book.number("pages") == 0)
    }
  }

  @Test func aMandatoryToOneIsRequired() throws {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let (one, many) = (Workshop.toOne("one"), Workshop.toMany("many"))
    one.isOptional = false
    Workshop.link(one, to: b, many, to: a)
    a.properties = [one]
    b.properties = [many]
    let model = ManagedObjectModel()
    model.entities = [a, b]
    try WorkshopStack(model: model).use { context in
      let object = context.make("A")
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect(error?.userInfo["NSValidationErrorKey"] as? String == "one")
      object.setValue(context.make("B"), forKey: "one")
      try context.save()
    }
  }

  @Test func mandatoryTransientsAreRequiredToo() throws {
    let model = ManagedObjectModel()
    let mood = AttributeDescription(name: "mood", type: .string, isOptional: false)
    mood.isTransient = true
    model.entities = [EntityDescription(name: "A", properties: [mood])]
    try WorkshopStack(model: model).use { context in
      let object = context.make("A")
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      object.setValue("glad", forKey: "mood")
      try context.save()
    }
  }

  // MARK: 10.3

  @Test func deletedInsertedAndUpdatedObjectsAreAllValidatedInThisOrder() throws {
    try Stack().use { context in
      let kept = context.make("Author")
      let gone = context.make("Author", ["passport": context.make("Passport")])
      try context.save()
      kept.setValue(nil, forKey: "name")
      let new = context.make("Book", ["pages": 0])
      context.delete(gone)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMultipleErrors)
      #expect(error?.message == "Multiple validation errors occurred.")
      #expect(error?.userInfo["NSValidationErrorObject"] == nil)
      #expect(error?.userInfo["NSValidationErrorKey"] == nil)
      let details = error?.userInfo["NSDetailedErrors"] as? [NSError] ?? []
      #expect(details.map(\.code) == [1600, 1620, 1570])
      let objects = details.map { $0.userInfo["NSValidationErrorObject"] as? ManagedObject }
      #expect(objects == [gone, new, kept])
      let keys = details.map { $0.userInfo["NSValidationErrorKey"] as? String }
      #expect(keys == ["passport", "pages", "name"])
    }
  }

  @Test func severalErrorsOfOneObjectComeInTheOrderOfItsProperties() throws {
    let rule = { (name: String) in
      let attribute = AttributeDescription(name: name, type: .integer64, isOptional: false)
      return attribute
    }
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "A", properties: ["c", "a", "b"].map(rule))]
    try WorkshopStack(model: model).use { context in
      context.make("A")
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      let details = error?.userInfo["NSDetailedErrors"] as? [NSError] ?? []
      #expect(details.map { $0.userInfo["NSValidationErrorKey"] as? String } == ["a", "b", "c"])
    }
  }
}

/// An object with a verdict of its own.
final class Judge: ManagedObject {
  var asked: [String] = []
  var verdict: NSError?

  private func judge(_ what: String, _ rules: () throws -> Void) throws {
    asked.append(what)
    var errors: [any Error] = []
    do { try rules() } catch { errors.append(error) }
    if let verdict { errors.append(verdict) }
    guard let first = errors.first else { return }
    if errors.count == 1 { throw first }
    throw NSError(
      domain: CoreDataError.errorDomain, code: 1560, userInfo: ["NSDetailedErrors": errors])
  }

  override func validateForInsert() throws { try judge("insert") { try super.validateForInsert() } }
  override func validateForUpdate() throws { try judge("update") { try super.validateForUpdate() } }
  override func validateForDelete() throws { try judge("delete") { try super.validateForDelete() } }

  static func model() -> ManagedObjectModel {
    let rank = AttributeDescription(name: "rank", type: .integer64, defaultValue: 1)
    rank.setValidationPredicates(
      [ObjectPredicate(format: "SELF >= 1")], withValidationWarnings: [1620])
    let entity = EntityDescription(
      name: "Judge", properties: [AttributeDescription(name: "name", type: .string), rank])
    entity.managedObjectClassName = String(reflecting: Judge.self)
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
