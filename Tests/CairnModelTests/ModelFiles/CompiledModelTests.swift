import Foundation
import Testing

@testable import CairnModel

/// Models that Apple's compiler wrote, and what Cairn writes in the same form.
@Suite struct CompiledModelTests {
  @Test(
    "A compiled model has the hashes its package lists",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func hashesOfCompiledModels(name: String) throws {
    let url = try AppleFixtures.url("compiled-models/\(name).momd")
    let info = try versionInfo(of: url)
    let hashes = try #require(
      info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    let package = try ModelPackage(contentsOf: url)
    #expect(package.form == .compiled)
    #expect(package.versionNames == hashes.keys.sorted())
    for version in package.versionNames {
      let model = try package.model(named: version)
      #expect(model.entityVersionHashesByName == hashes[version])
    }
  }

  @Test(
    "A model's checksum is the one its package lists",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing))
  func checksums() throws {
    let url = try AppleFixtures.url("compiled-models/SampleModel3.momd")
    let checksums = try #require(
      try versionInfo(of: url)["NSManagedObjectModel_VersionChecksums"] as? [String: String])
    let package = try ModelPackage(contentsOf: url)
    for version in package.versionNames {
      #expect(try package.model(named: version).versionChecksum == checksums[version])
    }
  }

  @Test(
    "The source of a model and its compiled form have the same hashes",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func sourceHashesEqualCompiled(name: String) throws {
    let source = try ModelPackage(contentsOf: AppleFixtures.url("models/\(name).xcdatamodeld"))
    let compiled = try ModelPackage(contentsOf: AppleFixtures.url("compiled-models/\(name).momd"))
    #expect(source.currentVersionName == compiled.currentVersionName)
    for version in source.versionNames {
      let first = try source.model(named: version)
      let second = try compiled.model(named: version)
      #expect(first.entityVersionHashesByName == second.entityVersionHashesByName)
    }
  }

  @Test(
    "The source of a model and its compiled form say the same, but for the Swift class of a value",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func sourceEqualsCompiled(name: String) throws {
    let source = try ModelPackage(contentsOf: AppleFixtures.url("models/\(name).xcdatamodeld"))
    let compiled = try ModelPackage(contentsOf: AppleFixtures.url("compiled-models/\(name).momd"))
    for version in source.versionNames {
      let first = try source.model(named: version)
      // Apple's compiler uses `customClassName` for the generated class only and leaves it out.
      for attribute in first.entities.flatMap(\.declaredProperties) {
        guard let attribute = attribute as? AttributeDescription else { continue }
        if attribute.attributeType == .transformable { attribute.attributeValueClassName = nil }
      }
      #expect(first == (try compiled.model(named: version)))
    }
  }

  @Test("A model comes back from its compiled form as it was")
  func roundTrip() throws {
    let model = try SampleModels.everything()
    let copy = try CompiledModel.read(try CompiledModel.write(model))
    #expect(copy == model)
    #expect(copy.versionChecksum == model.versionChecksum)
    let cached = try ModelCache.decode(try ModelCache.encode(model))
    #expect(cached == model)
  }

  @Test("Expressions of indexes, conditions of indexes and of derived attributes come back")
  func computedParts() throws {
    let computed = ExpressionDescription()
    computed.name = "total"
    computed.expression = ObjectExpression(format: "price * 2 + 1")
    computed.expressionResultType = .double
    let element = FetchIndexElementDescription(property: computed, collationType: .binary)
    element.isAscending = false
    let index = FetchIndexDescription(name: "byTotal", elements: [element])
    index.partialIndexPredicate = ObjectPredicate(format: "price > 3 AND name != nil")
    let count = DerivedAttributeDescription()
    count.name = "count"
    count.attributeType = .integer64
    count.derivationExpression = ObjectExpression(format: "count:(parts)")
    count.filteringPredicate = ObjectPredicate(
      format: "SUBQUERY(parts, $p, $p.price > 1).@count > 0")
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "price", type: .double), count,
      ])
    let parts = RelationshipDescription()
    parts.name = "parts"
    parts.destinationEntity = item
    item.properties.append(parts)
    item.indexes = [index]
    let model = ManagedObjectModel()
    model.entities = [item]
    let copies = [
      try CompiledModel.read(try CompiledModel.write(model)),
      try ModelCache.decode(try ModelCache.encode(model)),
    ]
    for copy in copies {
      #expect(copy == model)
      let entity = try #require(copy.entitiesByName["Item"])
      let read = try #require(entity.indexes.first?.elements.first)
      let property = try #require(read.property as? ExpressionDescription)
      #expect(property.expression == computed.expression && property.name == "total")
      #expect(property.expressionResultType == .double && !read.isAscending)
      #expect(entity.indexes.first?.partialIndexPredicate == index.partialIndexPredicate)
      let derived = entity.attributesByName["count"] as? DerivedAttributeDescription
      #expect(derived?.filteringPredicate == count.filteringPredicate)
    }
  }

  @Test("Broken bytes are refused with an error, whatever they are")
  func hostileBytes() throws {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0...UInt64.max)
    print("CompiledModelTests.hostileBytes seed \(seed)")
    var random = SplitMix(state: seed)
    let bytes = [UInt8](try CompiledModel.write(try SampleModels.everything()))
    for _ in 0..<1500 {
      var broken = bytes
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: broken.indices, using: &random)
        broken[place] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        broken.removeLast(Int.random(in: 0..<broken.count, using: &random))
      }
      do {
        _ = try CompiledModel.read(Data(broken))
      } catch {
        #expect(error is ModelFileError)
      }
    }
  }

  private func versionInfo(of package: URL) throws -> [String: Any] {
    let data = try Data(contentsOf: package.appendingPathComponent("VersionInfo.plist"))
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    return try #require(list as? [String: Any])
  }
}

/// A small random number generator that a seed repeats.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
