// Mapping models: core-data-semantics chapters 22.3 and 22.4.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct MappingModelTests {
  @Test func anInferredMappingNamesEverySourceAndExpression() throws {
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: Shelf.grown())
    #expect(
      mapping.entityMappingsByName.keys.sorted() == ["IEM_Copy_Author", "IEM_Transform_Book"])
    let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
    #expect(book.mappingType == .transformEntityMappingType)
    #expect(mapping.entityMappingsByName["IEM_Copy_Author"]?.mappingType == .copyEntityMappingType)
    let attributes = Dictionary(
      uniqueKeysWithValues: (book.attributeMappings ?? []).map { ($0.name ?? "", $0) })
    #expect(attributes["title"]?.valueExpression?.description == "$source.title")
    #expect(attributes["shelf"]?.valueExpression == nil)
  }

  @Test func addedAndRemovedEntitiesHaveTheirType() throws {
    let smaller = ManagedObjectModel()
    smaller.entities = [Shelf.entity("Note", [Shelf.attribute("text", .string)])]
    let other = ManagedObjectModel()
    other.entities = [Shelf.entity("Memo", [Shelf.attribute("text", .string)])]
    let mappings = try #require(
      try MappingModel.inferredMappingModel(
        forSourceModel: smaller, destinationModel: other
      ).entityMappings)
    #expect(mappings.map(\.mappingType) == [.addEntityMappingType, .removeEntityMappingType])
    #expect(mappings.map(\.name) == ["IEM_Add_Memo", "IEM_Remove_Note"])
  }

  @Test func aChangedTypeCannotBeInferred() {
    #expect(
      Shelf.code {
        _ = try MappingModel.inferredMappingModel(
          forSourceModel: Shelf.first(), destinationModel: Shelf.second())
      } == .inferredMappingModel)
  }

  @Test func aFileThatIsNoMappingModelSaysSo() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("a.xcmappingmodel")
    #expect(throws: ModelFileError.self) { try MappingModel.load(contentsOf: url) }
    for text in ["", "<database>", "<other/>", "<database></database>", "bplist00"] {
      try Data(text.utf8).write(to: url)
      #expect(throws: ModelFileError.self) { try MappingModel.load(contentsOf: url) }
      #expect(MappingModel(contentsOf: url) == nil)
    }
  }
}

/// The mapping models that Xcode wrote; run where the fixtures are.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"] != nil))
struct AppleMappingModelTests {
  private var folder: URL {
    URL(
      fileURLWithPath: ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"] ?? "",
      isDirectory: true)
  }

  private func load(_ name: String) throws -> MappingModel {
    try MappingModel.load(
      contentsOf: folder.appendingPathComponent("mapping-models/\(name).xcmappingmodel"))
  }

  @Test func everyFixtureIsRead() throws {
    for name in [
      "CoreDataPlus-V2toV3", "Moody 2-Moody 3", "Moody 3-Moody 4", "Moody 4-Moody 5",
      "Moody 5-Moody 6",
    ] {
      let mapping = try load(name)
      #expect(mapping.entityMappings.count >= 2, "\(name)")
    }
  }

  @Test func recordedExpressionsAreTheSource() throws {
    let country = try #require(try load("Moody 4-Moody 5").entityMappingsByName["CountryToCountry"])
    let continent = try #require(
      country.attributeMappings?.first { $0.name == "isoContinent" }?.valueExpression)
    #expect(continent.description == "$source.continent.numericISO3166Code")
    let maker = try load("CoreDataPlus-V2toV3").entityMappings.compactMap(
      \.entityMigrationPolicyClassName)
    #expect(maker.contains("V2to3MakerPolicy"))
  }

  @Test func aMappingOfTheFixturesFitsItsModelsAndNoOthers() throws {
    let package = try ModelPackage(
      contentsOf: folder.appendingPathComponent("models/Moody.xcdatamodeld"))
    let three = try package.model(named: "Moody 3")
    let four = try package.model(named: "Moody 4")
    let five = try package.model(named: "Moody 5")
    let mapping = try load("Moody 4-Moody 5")
    let bundle = try load("Moody 3-Moody 4")
    #expect(mapping.entityMappings.count == 2)
    #expect(bundle.entityMappings.count == 3)
    _ = (three, four, five)
  }

  @Test func aStoreThatAppleWroteIsMigratedWithXcodesMapping() throws {
    let work = try TemporaryFolder()
    let package = try ModelPackage(
      contentsOf: folder.appendingPathComponent("models/Moody.xcdatamodeld"))
    let source = work.fileURL("source.sqlite")
    try FileManager.default.copyItem(
      at: folder.appendingPathComponent("apple-stores/Moody-4.sqlite"), to: source)
    let destination = work.fileURL("new.sqlite")
    let old = try package.model(named: "Moody 4")
    let new = try package.model(named: "Moody 5")
    let before = try Shelf.with(old, "SQLite", source) { context throws in
      try Shelf.lines(context, "Country") {
        let continent = $0.value(forKey: "continent") as? ManagedObject
        return "\($0.value(forKey: "numericISO3166Code") ?? "") "
          + "\(continent?.value(forKey: "numericISO3166Code") ?? 0) "
          + "\(($0.value(forKey: "moods") as? Set<ManagedObject>)?.count ?? -1)"
      }
    }
    #expect(!before.isEmpty)
    try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: source, type: .sqlite, options: nil, mapping: try load("Moody 4-Moody 5"),
      to: destination, type: .sqlite, options: nil)
    let after = try Shelf.with(new, "SQLite", destination) { context throws in
      try Shelf.lines(context, "Country") {
        "\($0.value(forKey: "numericISO3166Code") ?? "") \($0.value(forKey: "isoContinent") ?? 0) "
          + "\(($0.value(forKey: "moods") as? Set<ManagedObject>)?.count ?? -1)"
      }
    }
    #expect(before == after)
  }
}
