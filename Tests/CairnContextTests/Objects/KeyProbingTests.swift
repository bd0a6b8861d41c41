// Keys that come from outside the program: core-data-semantics chapters 5 and 24.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

private final class Answering: ManagedObject {
  override func value(forUndefinedKey key: String) -> Any? { "answer to \(key)" }
}

@Suite struct KeyProbingTests {
  @Test func aPredicateOverAKeyThatIsNotThereThrows() throws {
    try Stack().use { context in
      let book = context.make("Book", ["title": "a"])
      for format in ["nothing == 1", "author.nothing == 1", "ANY tags.nothing == 1"] {
        let predicate = try ObjectPredicate.parse(format)
        book.setValue(context.make("Author", ["name": "b"]), forKey: "author")
        book.setValue(Set([context.make("Tag", ["label": "c"])]), forKey: "tags")
        #expect(throws: PredicateEvaluationError.self, "\(format)") { try predicate.test(book) }
      }
      #expect(try ObjectPredicate.parse("title == 'a'").test(book))
    }
  }

  @Test func aSubclassMayAnswerToAKeyOfItsOwn() throws {
    try Stack().use { context in
      let entity = try #require(EntityDescription.entity(forEntityName: "Tag", in: context))
      let tag = Answering(entity: entity, insertInto: context)
      #expect(try ObjectPredicate.parse("other == 'answer to other'").test(tag))
      #expect(try tag.readValue(forKey: "label") == nil)
    }
  }
}
