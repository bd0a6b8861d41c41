// What a save refuses, and how it says so.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

@Suite struct ValidationTests {
  private func error(of body: () throws -> Void) -> CoreDataError? {
    do { try body() } catch { return error as? CoreDataError }
    return nil
  }

  @Test func aMissingMandatoryValueIsNamed() throws {
    try Stack().use { context in
      let author = context.make("Author", ["name": nil])
      let error = error { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect(error?.userInfo["NSValidationErrorKey"] as? String == "name")
      #expect(error?.userInfo["NSValidationErrorObject"] as? ManagedObject === author)
      #expect(error?.message == "name is a required value.")
    }
  }

  @Test func aPredicateReportsTheCodeGivenForIt() throws {
    try Stack().use { context in
      context.make("Book", ["pages": 0])
      let error = error { try context.save() }
      #expect(error?.code == .validationNumberTooSmall)
      #expect(error?.message == "pages is too small.")
      #expect(error?.userInfo["NSValidationErrorPredicate"] is ObjectPredicate)
    }
  }

  @Test func severalProblemsAreReportedTogetherAndFlat() throws {
    try Stack().use { context in
      context.make("Author", ["name": nil])
      context.make("Book", ["pages": 0])
      context.make("Book", ["pages": -3])
      let error = error { try context.save() }
      #expect(error?.code == .validationMultipleErrors)
      let details = error?.userInfo["NSDetailedErrors"] as? [any Error] ?? []
      #expect(
        details.compactMap { ($0 as? CoreDataError)?.code.rawValue }.sorted() == [1570, 1620, 1620])
      #expect(context.insertedObjects.count == 3)
    }
  }

  @Test func aFailedSaveCanBeRepairedAndRepeated() throws {
    try Stack().use { context in
      let book = context.make("Book", ["pages": 0])
      #expect(throws: CoreDataError.self) { try context.save() }
      book.setValue(7, forKey: "pages")
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test func nilIsAllowedUntilTheSave() throws {
    try Stack().use { context in
      let author = context.make("Author")
      author.setValue(nil, forKey: "name")
      #expect(author.value(forKey: "name") == nil)
      #expect(throws: CoreDataError.self) { try author.validateForInsert() }
    }
  }
}
