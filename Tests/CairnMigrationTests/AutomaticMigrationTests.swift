// Automatic migration when a store is added: core-data-semantics chapter 22.2.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct AutomaticMappingTests {
  private func options(_ more: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
    [
      StoreOptionKey.migrateAutomatically: NSNumber(value: true),
      StoreOptionKey.inferMappingModel: NSNumber(value: true),
      StoreOptionKey.migrationSourceModels: [Shelf.first()],
    ].merging(more) { _, new in new }
  }

  private func mapping() throws -> MappingModel {
    let author = EntityMapping()
    author.name = "AuthorToWriter"
    author.sourceEntityName = "Author"
    author.destinationEntityName = "Writer"
    let born = PropertyMapping()
    born.name = "born"
    born.valueExpression = try ObjectExpression.parse("$source.born")
    author.attributeMappings = [born]
    let book = EntityMapping()
    book.name = "BookToBook"
    book.sourceEntityName = "Book"
    book.destinationEntityName = "Book"
    let pages = PropertyMapping()
    pages.name = "pages"
    pages.valueExpression = try ObjectExpression.parse("CAST($source.pages, 'NSString')")
    book.attributeMappings = [pages]
    let model = MappingModel()
    model.entityMappings = [author, book]
    return model
  }

  @Test func aMappingModelComesBeforeInference() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let given = options([StoreOptionKey.migrationMappingModels: [try mapping()]])
    try Shelf.with(Shelf.second(), "SQLite", url, given) { context throws in
      #expect(
        try Shelf.lines(context, "Book") { "\($0.value(forKey: "pages") ?? "")" }
          == ["120", "184", "341"])
      #expect(
        try Shelf.lines(context, "Writer") { "\($0.value(forKey: "born") ?? "")" }
          == ["1921", "1929"])
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains("migrating") }, "\(left)")
  }

  @Test func withoutOneTheDifferenceMustBeInferable() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    #expect(
      Shelf.code { try Shelf.with(Shelf.second(), "SQLite", url, options()) { _ in } }
        == .inferredMappingModel)
    try Shelf.with(Shelf.first(), "SQLite", url) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 3)
    }
  }

  @Test func aMappingForOtherModelsIsPassedOver() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let given = options([StoreOptionKey.migrationMappingModels: [try mapping()]])
    try Shelf.with(Shelf.grown(), "SQLite", url, given) { context throws in
      #expect(
        try Shelf.lines(context, "Book") { "\($0.value(forKey: "title") ?? "")" }.count == 3)
    }
  }
}
