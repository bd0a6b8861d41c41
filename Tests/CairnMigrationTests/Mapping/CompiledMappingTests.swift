// Compiled mapping models, the search by versions, and equality: core-data-semantics chapters 22.2
// and 22.4.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct CompiledMappingTests {
  private func inferred(
    from source: ManagedObjectModel = Shelf.first(), to destination: ManagedObjectModel
  ) throws -> MappingModel {
    try MappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
  }

  @Test func aCompiledMappingModelIsReadWithHashesExpressionsAndPolicies() throws {
    let folder = try TemporaryFolder()
    let written = try inferred(to: Shelf.grown())
    let book = try #require(written.entityMappingsByName["IEM_Transform_Book"])
    book.entityMigrationPolicyClassName = "REPLACE_AT_RUNTIME.BookPolicy"
    book.userInfo = ["note": "kept"]
    let url = folder.fileURL("Books.cdm")
    try CompiledMappings.data(of: written).write(to: url)
    let read = try MappingModel.load(contentsOf: url)
    // Only the module is not known when a mapping is compiled.
    book.entityMigrationPolicyClassName = "BookPolicy"
    #expect(read == written)
    #expect(MappingModel(contentsOf: url) == read)
    let again = try #require(read.entityMappingsByName["IEM_Transform_Book"])
    #expect(again.sourceEntityVersionHash == Shelf.first().entityVersionHashesByName["Book"])
    #expect(again.sourceExpression?.description.hasPrefix("FETCH(") == true)
    #expect(again.userInfo?["note"] as? String == "kept")
  }

  @Test func aStoreIsMigratedWithACompiledMappingModel() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let mapping = try inferred(to: Shelf.grown())
    let shelf = mapping.entityMappingsByName["IEM_Transform_Book"]?.attributeMappings?
      .first { $0.name == "shelf" }
    shelf?.valueExpression = try ObjectExpression.parse("$source.title")
    let url = folder.fileURL("Books.cdm")
    try CompiledMappings.data(of: mapping).write(to: url)
    let destination = folder.fileURL("new.sqlite")
    try MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown()).migrateStore(
      from: source, type: .sqlite, options: nil, mapping: try MappingModel.load(contentsOf: url),
      to: destination, type: .sqlite, options: nil)
    try Shelf.with(Shelf.grown(), "SQLite", destination) { context throws in
      #expect(
        try Shelf.lines(context, "Book") {
          let author = $0.value(forKey: "author") as? ManagedObject
          return "\($0.value(forKey: "shelf") ?? "") \(author?.value(forKey: "born") ?? "-")"
        } == ["Beowulf -", "The Dispossessed 1929", "The Lathe of Heaven 1929"])
    }
  }

  @Test func aMappingIsFoundByTheVersionsThatItIsFor() throws {
    let folder = try TemporaryFolder()
    // Three versions with the same names: only their hashes tell them apart.
    func version(_ number: Int) -> ManagedObjectModel {
      let model = Shelf.first()
      model.entitiesByName["Book"]?.versionHashModifier = "\(number)"
      return model
    }
    for (source, destination) in [(1, 2), (2, 3)] {
      let mapping = try inferred(from: version(source), to: version(destination))
      for entity in mapping.entityMappings { entity.name += " \(source) to \(destination)" }
      try CompiledMappings.data(of: mapping)
        .write(to: folder.fileURL("Any\(source).cdm"))
    }
    let bundle = try #require(Bundle(path: folder.path))
    func found(_ source: Int, _ destination: Int) -> String? {
      MappingModel(
        from: [bundle], forSourceModel: version(source), destinationModel: version(destination)
      )?.entityMappings.first?.name
    }
    #expect(found(1, 2) == "IEM_Copy_Author 1 to 2")
    #expect(found(2, 3) == "IEM_Copy_Author 2 to 3")
    #expect(found(3, 2) == nil)
    #expect(found(2, 1) == nil)
    #expect(found(1, 3) == nil)
  }

  @Test func mappingsThatSayTheSameAreEqualAndOthersAreNot() throws {
    let one = try inferred(to: Shelf.grown())
    let other = try inferred(to: Shelf.grown())
    #expect(one == other)
    #expect(one.hash == other.hash)
    let changes: [(EntityMapping) -> Void] = [
      { $0.name = "Other" }, { $0.mappingType = .customEntityMappingType },
      { $0.sourceEntityVersionHash = nil }, { $0.destinationEntityName = "Other" },
      { $0.attributeMappings?.removeLast() }, { $0.relationshipMappings = nil },
      { $0.sourceExpression = nil }, { $0.entityMigrationPolicyClassName = "Policy" },
      { $0.userInfo = ["a": 1] }, { $0.attributeMappings?.first?.name = "other" },
      { $0.attributeMappings?.first?.valueExpression = ObjectExpression(forVariable: "other") },
    ]
    for (number, change) in changes.enumerated() {
      let changed = try inferred(to: Shelf.grown())
      change(try #require(changed.entityMappings.last))
      #expect(changed != one, "change \(number)")
    }
  }

  @Test func damagedArchivesAreRefusedAndNothingWorse() throws {
    let folder = try TemporaryFolder()
    let whole = try CompiledMappings.data(of: try inferred(to: Shelf.grown()))
    let url = folder.fileURL("Damaged.cdm")
    let seed = UInt64.random(in: 1...UInt64.max)
    var state = seed
    func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    for _ in 0..<200 {
      var bytes = whole
      for _ in 0..<(1 + next(4)) { bytes[next(bytes.count)] = UInt8(next(256)) }
      if next(4) == 0 { bytes = bytes.prefix(next(bytes.count)) }
      try bytes.write(to: url)
      do {
        _ = try MappingModel.load(contentsOf: url)
      } catch {
        #expect(error is ModelFileError, "seed \(seed): \(error)")
      }
    }
  }
}

/// What Xcode's compiler wrote; run where the fixtures are.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"] != nil))
struct AppleCompiledMappingTests {
  private var folder: URL {
    URL(
      fileURLWithPath: ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"] ?? "",
      isDirectory: true)
  }
  private func compiled() throws -> MappingModel {
    try MappingModel.load(
      contentsOf: folder.appendingPathComponent("compiled-mappings/CoreDataPlus-V2toV3.cdm"))
  }
  private func source(_ name: String) throws -> MappingModel {
    try MappingModel.load(
      contentsOf: folder.appendingPathComponent("mapping-models/\(name).xcmappingmodel"))
  }
  private func model(_ package: String, _ name: String) throws -> ManagedObjectModel {
    try ModelPackage(
      contentsOf: folder.appendingPathComponent("models/\(package).xcdatamodeld")
    ).model(named: name)
  }

  @Test func theCompiledFormSaysWhatItsSourceSays() throws {
    let read = try compiled()
    let origin = try source("CoreDataPlus-V2toV3")
    #expect(read.entityMappings.map(\.name) == origin.entityMappings.map(\.name))
    #expect(
      read.entityMappings.map(\.entityMigrationPolicyClassName)
        == origin.entityMappings.map(\.entityMigrationPolicyClassName))
    let car = try #require(read.entityMappingsByName["CarToCar"])
    #expect(car.mappingType == .customEntityMappingType)
    #expect(
      car.attributeMappings?.map { "\($0.name ?? "") \($0.valueExpression?.description ?? "")" }
        == [
          "markedForDeletionAsOf $source.markedForDeletionAsOf", "model $source.model",
          "numberPlate $source.numberPlate",
        ])
    #expect(car.relationshipMappings?.map(\.name) == ["createdBy", "owner", "previousOwners"])
    #expect(
      car.sourceEntityVersionHash
        == (try model("SampleModel", "SampleModel2")).entityVersionHashesByName["Car"])
    #expect(
      car.destinationEntityVersionHash
        == (try model("SampleModel", "SampleModel3")).entityVersionHashesByName["Car"])
  }

  @Test func twoLoadsAreEqual() throws {
    #expect(try compiled() == compiled())
    #expect(try source("Moody 4-Moody 5") == source("Moody 4-Moody 5"))
    #expect(try source("Moody 4-Moody 5") != source("Moody 3-Moody 4"))
  }

  @Test func theEditorsDocumentIsFoundByTheModelsInIt() throws {
    let work = try TemporaryFolder()
    for name in ["Moody 2-Moody 3", "Moody 3-Moody 4", "Moody 4-Moody 5", "Moody 5-Moody 6"] {
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent("mapping-models/\(name).xcmappingmodel"),
        to: work.fileURL("\(name).xcmappingmodel"))
    }
    let bundle = try #require(Bundle(path: work.path))
    func name(_ number: Int) -> String { "Moody \(number)" }
    for (source, destination) in [(3, 4), (5, 6), (3, 5), (4, 4), (6, 5)] {
      let found = MappingModel(
        from: [bundle], forSourceModel: try model("Moody", name(source)),
        destinationModel: try model("Moody", name(destination)))
      guard destination == source + 1 else {
        #expect(found == nil, "\(source) to \(destination)")
        continue
      }
      #expect(found == (try self.source("\(name(source))-\(name(destination))")))
    }
  }
}
