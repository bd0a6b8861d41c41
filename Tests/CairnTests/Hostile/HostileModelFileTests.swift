// Model files that were damaged or made to do harm: an error, or a model that can be used.

import Cairn
import CairnModelCache
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: model-format.md – whatever the bytes, reading a model does no worse than throw.
@Suite struct HostileModelFileTests {
  /// Apple's files, where they are present.
  private static func fixtures(_ folder: String, _ ending: String) -> [URL] {
    guard let path = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"], !path.isEmpty
    else { return [] }
    let root = URL(fileURLWithPath: path).appendingPathComponent(folder)
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
    return names.filter { $0.hasSuffix(ending) }.sorted().map { root.appendingPathComponent($0) }
  }

  /// Reads a model and, when it is one, does with it what programs do.
  ///
  /// - Returns: whether it is one.
  private func use(
    in folder: URL, _ what: String, opens: Bool = false, _ read: () throws -> ManagedObjectModel
  ) -> Bool {
    do {
      let model = try read()
      try model.prepareForUse()
      #expect(model.entityVersionHashesByName.count == model.entities.count, "\(what)")
      #expect(!model.versionChecksum.isEmpty)
      let copy = try CompiledModel.read(try CompiledModel.write(model))
      #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName, "\(what)")
      if opens { try insertOneOfEach(model, in: folder) }
      return true
    } catch let error as ModelFileError {
      #expect(!error.problems.isEmpty, "\(what)")
    } catch is ModelError {
    } catch is CoreDataError {
    } catch {
      Issue.record("\(what): an error that is not declared: \(error)")
    }
    return false
  }

  /// A store with an object of every entity, also of those whose names nobody would choose.
  private func insertOneOfEach(_ model: ManagedObjectModel, in folder: URL) throws {
    let place = folder.appendingPathComponent("\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let store = try HostileStore(in: place, model: model)
    defer { try? store.close() }
    try store.context.performAndWait {
      let entities = model.entities.filter { !$0.isAbstract }
      for entity in entities {
        let object = ManagedObject(entity: entity, insertInto: store.context)
        for (name, relationship) in entity.relationshipsByName where relationship.isToMany {
          _ = object.value(forKey: name)
        }
      }
      do { try store.context.save() } catch { store.context.rollback() }
      for entity in entities {
        let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
        for object in try store.context.fetch(request) {
          for name in entity.attributesByName.keys { _ = object.value(forKey: name) }
        }
      }
      for name in model.templatesByName.keys {
        guard let request = model.fetchRequestTemplate(forName: name) else { continue }
        _ = try? store.context.count(for: request)
      }
    }
  }

  @Test func damagedDocumentsAreAnErrorOrAModel() throws {
    let seed = TestSeed.get("hostile model documents")
    var numbers = SeededNumbers(seed: seed)
    let documents =
      try [HostileModel.document]
      + Self.fixtures("models", ".xcdatamodel/contents").map {
        try String(contentsOf: $0, encoding: .utf8)
      }
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("contents")
      var usable = 0
      for number in 0..<1200 {
        let text = documents[number % 2 == 0 ? 0 : number % documents.count]
        let bytes = HostileDocuments.damageXML(text, using: &numbers)
        try bytes.write(to: file)
        let isUsable = use(in: folder, "seed \(seed), case \(number)", opens: number % 8 == 0) {
          try ManagedObjectModel.load(contentsOf: file)
        }
        usable += isUsable ? 1 : 0
      }
      #expect(usable > Self.mappings / 16, "seed \(seed)")
    }
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      Array(HostileModelDocuments.composites.prefix(3)), HostileModelDocuments.inheritance,
      HostileModelDocuments.inheritedProperties,
    ])
  func documentsThatAskForTooMuchAreRefused(_ documents: [String]) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("contents")
      for (number, text) in documents.enumerated() {
        try Data(text.utf8).write(to: file)
        #expect(throws: ModelFileError.self, "document \(number)") {
          try ManagedObjectModel.load(contentsOf: file)
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func markupThatIsMoreThanItLooksIsAnErrorOrAModel() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("contents")
      var usable: [Int] = []
      for (number, text) in HostileModelDocuments.markup.enumerated() {
        try Data(text.utf8).write(to: file)
        let isUsable = use(in: folder, "document \(number)") {
          try ManagedObjectModel.load(contentsOf: file)
        }
        if isUsable { usable.append(number) }
      }
      // Attributes without a meaning are passed over; a document type that declares anything is refused.
      #expect(usable == [4])
    }
  }

  @Test func namesThatAreNoUTF8AreRefused() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("contents")
      for name in [[0xC3], [0xFF, 0x61], [0x61, 0xE9]] as [[UInt8]] {
        let bytes = Array("<model><entity ".utf8) + name + Array("=\"x\"/></model>".utf8)
        try Data(bytes).write(to: file)
        #expect(throws: ModelFileError.self) { try ManagedObjectModel.load(contentsOf: file) }
        #expect(throws: ModelFileError.self) { try MappingModel.load(contentsOf: file) }
      }
    }
  }

  @Test func damagedArchivesAreAnErrorOrAModel() throws {
    let seed = TestSeed.get("hostile compiled models")
    var numbers = SeededNumbers(seed: seed)
    try TemporaryFolder.with { folder in
      let archives =
        try [CompiledModel.write(try HostileStore.model(in: folder))]
        + Self.fixtures("compiled-models", ".mom").map { try Data(contentsOf: $0) }
      var usable = 0
      for number in 0..<1500 {
        let archive = archives[number % 2 == 0 ? 0 : number % archives.count]
        let bytes =
          number % 5 == 0
          ? HostileDocuments.damage(archive, using: &numbers)
          : HostileDocuments.damageList(archive, using: &numbers)
        let isUsable = use(in: folder, "seed \(seed), case \(number)", opens: number % 8 == 0) {
          try CompiledModel.read(bytes)
        }
        usable += isUsable ? 1 : 0
      }
      #expect(usable > Self.mappings / 16, "seed \(seed)")
    }
  }

  @Test func damagedModelCachesAreAnErrorOrAModel() throws {
    let seed = TestSeed.get("hostile model caches")
    var numbers = SeededNumbers(seed: seed)
    try TemporaryFolder.with { folder in
      let cache = try ModelCache.encode(try HostileStore.model(in: folder))
      var usable = 0
      for number in 0..<500 {
        // Some whole ones: hardly any that is damaged can still be decompressed.
        let bytes = number % 50 == 0 ? cache : HostileDocuments.damage(cache, using: &numbers)
        let isUsable = use(in: folder, "seed \(seed), case \(number)") {
          try ModelCache.decode(bytes)
        }
        usable += isUsable ? 1 : 0
      }
      #expect((10..<250).contains(usable), "seed \(seed): \(usable)")
    }
  }

  /// `CAIRN_FUZZ_ROUNDS` asks for more, as `make fuzz` does.
  private static let mappings =
    ProcessInfo.processInfo.environment["CAIRN_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 200

  @Test(.timeLimit(.minutes(mappings > 200 ? 120 : 10)))
  func damagedMappingModelsAreAnErrorOrAMapping() throws {
    let seed = TestSeed.get("hostile mapping models")
    var numbers = SeededNumbers(seed: seed)
    let documents =
      try [HostileModelDocuments.mapping]
      + Self.fixtures("mapping-models", "xcmapping.xml").map {
        try String(contentsOf: $0, encoding: .utf8)
      }
    try TemporaryFolder.with { folder in
      let model = try HostileStore.model(in: folder)
      let file = folder.appendingPathComponent("xcmapping.xml")
      var usable = 0
      for number in 0..<Self.mappings {
        let text = documents[number % 2 == 0 ? 0 : number % documents.count]
        try HostileDocuments.damageXML(text, using: &numbers).write(to: file)
        do {
          let mapping = try MappingModel.load(contentsOf: file)
          mapping.deriveExpressions(from: model)
          #expect(mapping.entityMappingsByName.count <= mapping.entityMappings.count)
          if number % 10 == 0 { migrate(with: mapping, model: model, in: folder) }
          usable += 1
        } catch let error as ModelFileError {
          #expect(!error.problems.isEmpty, "seed \(seed), case \(number)")
        }
      }
      #expect(usable > Self.mappings / 16, "seed \(seed)")
      for text in HostileModelDocuments.markup {
        try Data(text.utf8).write(to: file)
        #expect(throws: ModelFileError.self) { try MappingModel.load(contentsOf: file) }
      }
    }
  }

  /// A migration that may fail, and then leaves the store as it was.
  private func migrate(with mapping: MappingModel, model: ManagedObjectModel, in folder: URL) {
    let place = folder.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: place) }
    do {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      let store = try HostileStore(in: place, model: model)
      try store.fill(items: 3)
      try store.close()
      let before = try Data(contentsOf: store.url)
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      do {
        try manager.migrateStore(
          from: store.url, type: .sqlite, mapping: mapping,
          to: place.appendingPathComponent("new.sqlite"), type: .sqlite)
      } catch {
        #expect(try Data(contentsOf: store.url) == before)
      }
    } catch {
      Issue.record("\(error)")
    }
  }
}
