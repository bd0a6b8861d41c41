// Chapters 24.5 and 24.7 of the specification.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Testing

/// Variables at the beginning of key paths that are made in code.
@Suite struct SubqueryVariableTests {
  /// `SUBQUERY(books, $book, $book.title == "wanted").@count > 0`, made of parts.
  private func hasWantedBook(_ path: String) -> ObjectPredicate {
    let title = ComparisonPredicate(
      leftExpression: ObjectExpression(forKeyPath: path),
      rightExpression: ObjectExpression(forConstantValue: "wanted"), modifier: .direct,
      type: .equalTo, options: [])
    let found = ObjectExpression(
      forSubquery: ObjectExpression(forKeyPath: "books"), usingIteratorVariable: "book",
      predicate: title)
    return ComparisonPredicate(
      leftExpression: ObjectExpression(
        forFunction: "count:", arguments: [found]),
      rightExpression: ObjectExpression(forConstantValue: 0), modifier: .direct,
      type: .greaterThan, options: [])
  }

  @Test(arguments: StoreChoice.allCases, ["$book.title", "$book.author.name"])
  func aKeyPathThatBeginsWithTheVariableOfASubqueryStartsAtIt(
    choice: StoreChoice, path: String
  ) throws {
    try Stack(in: choice).use { context in
      for name in ["wanted", "other"] {
        let author = context.make("Author", ["name": name])
        context.make("Book", ["title": name, "author": author])
      }
      let request = FetchRequest<ManagedObject>(entityName: "Author")
      request.predicate = hasWantedBook(path)
      #expect(try context.fetch(request).map { $0.text("name") } == ["wanted"], "unsaved")
      try context.save()
      context.reset()
      #expect(try context.fetch(request).map { $0.text("name") } == ["wanted"])
      let chosen = try context.all("Author").filter { hasWantedBook(path).evaluate(with: $0) }
      #expect(chosen.map { $0.text("name") } == ["wanted"])
    }
  }

  @Test func itIsTheVariableOfAFormatToo() {
    #expect(
      ObjectExpression(forKeyPath: "$book.title")
        == ObjectExpression(format: "$book.title"))
    #expect(ObjectExpression(forKeyPath: "$book") == ObjectExpression(forVariable: "book"))
    #expect(ObjectExpression(forKeyPath: "$book.title").description == "$book.title")
  }

  @Test func aVariableOfATemplateIsReplaced() throws {
    let template = ComparisonPredicate(
      leftExpression: ObjectExpression(forKeyPath: "title"),
      rightExpression: ObjectExpression(forKeyPath: "$book.title"), modifier: .direct,
      type: .equalTo, options: [])
    let filled = template.withSubstitutionVariables(["book": ["title": "a"]])
    #expect(filled.evaluate(with: ["title": "a"]) && !filled.evaluate(with: ["title": "b"]))
  }
}
