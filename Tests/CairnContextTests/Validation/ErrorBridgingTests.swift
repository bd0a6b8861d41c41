// Errors as clients of Core Data catch them.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 2.5 of the specification: domain, codes and user info, however an error is caught.
@Suite struct ErrorBridgingTests {
  /// What saving a piece of work without its mandatory value throws.
  private func failure() throws -> (any Error, ManagedObject) {
    let stack = try Stack()
    return try stack.use { context in
      let author = context.make("Author", ["name": nil])
      do {
        try context.save()
      } catch {
        return (error, author)
      }
      throw CoreDataError(.coreData, "the save succeeded")
    }
  }

  @Test func itIsCaughtAsNSError() throws {
    let (thrown, author) = try failure()
    do {
      throw thrown
    } catch let error as NSError {
      #expect(error.domain == NSCocoaErrorDomain && error.code == 1570)
      #expect(error.userInfo["NSValidationErrorKey"] as? String == "name")
      #expect(error.userInfo["NSValidationErrorObject"] as? ManagedObject === author)
      #expect(error.localizedDescription == "name is a required value.")
    }
  }

  @Test func itIsCaughtAsCocoaError() throws {
    let (thrown, _) = try failure()
    let error = try #require(thrown as? CocoaError)
    #expect(error.code.rawValue == 1570)
    #expect(error.userInfo["NSValidationErrorKey"] as? String == "name")
  }

  @Test func itIsCaughtByItsCode() throws {
    let (thrown, _) = try failure()
    let code = CocoaError.Code(rawValue: 1570)
    var isCaught = false
    do {
      throw thrown
    } catch CocoaError.Code(rawValue: 1560) {
      Issue.record("another code was caught")
    } catch code {
      isCaught = true
    }
    #expect(isCaught)
  }

  @Test func itIsCaughtAsTheLibrarysOwnError() throws {
    let (thrown, _) = try failure()
    let error = try #require(thrown as? CoreDataError)
    #expect(error.code == .validationMissingMandatoryProperty)
    #expect(error.message == "name is a required value.")
    #expect("\(thrown)" == "name is a required value. (1570)")
  }

  @Test func detailsOfSeveralErrorsAreNSErrors() throws {
    try Stack().use { context in
      context.make("Author", ["name": nil])
      context.make("Book", ["pages": 0])
      let thrown = #expect(throws: (any Error).self) { try context.save() }
      let error = try #require(thrown as NSError?)
      #expect(error.code == 1560 && error.userInfo["NSValidationErrorKey"] == nil)
      let details = try #require(error.userInfo["NSDetailedErrors"] as? [NSError])
      #expect(details.map(\.code).sorted() == [1570, 1620])
      #expect(details.allSatisfy { $0.domain == NSCocoaErrorDomain })
    }
  }

  @Test func errorsOfOtherVerbsAreNSErrorsToo() throws {
    try Stack().use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.predicate = ObjectPredicate(format: "nothing == 1")
      let fetched = #expect(throws: CocoaError.self) { try context.fetch(request) }
      #expect(fetched != nil)
      let author = context.make("Author")
      try context.save()
      context.delete(author)
      try context.save()
      let missing = #expect(throws: NSError.self) {
        try context.existingObject(with: author.objectID)
      }
      #expect(missing?.code == 133000)
    }
  }

  @Test func anErrorWithinAnErrorStays() throws {
    let inner = CoreDataError(.persistentStoreTimeout, "inner")
    let outer = CoreDataError(.persistentStoreSave, "outer", underlyingError: inner)
    let bridged = try #require(outer as NSError?)
    let under = try #require(bridged.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(under.code == 134090 && (under as Error) as? CoreDataError != nil)
  }
}
