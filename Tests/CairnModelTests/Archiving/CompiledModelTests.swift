import CairnPredicates
import Foundation
import TestSupport
import Testing

@testable import CairnModel

/// Models in the form that Apple's compiler writes.
@Suite struct CompiledModelTests {
  @Test("A model comes back from its compiled form as it was")
  func roundTrip() throws {
    let model = try SampleModels.everything()
    let copy = try CompiledModel.read(try CompiledModel.write(model))
    #expect(copy == model)
    #expect(copy.versionChecksum == model.versionChecksum)
  }

  @Test("Expressions of indexes, conditions of indexes and of derived attributes come back")
  func computedParts() throws {
    let model = SampleModels.computedParts()
    let copy = try CompiledModel.read(try CompiledModel.write(model))
    #expect(copy == model)
    let entity = try #require(copy.entitiesByName["Item"])
    let read = try #require(entity.indexes.first?.elements.first)
    let property = try #require(read.property as? ExpressionDescription)
    #expect(property.name == "total")
    #expect(property.expression == ObjectExpression(format: "price * 2 + 1"))
    #expect(property.expressionResultType == .double && !read.isAscending)
    #expect(
      entity.indexes.first?.partialIndexPredicate
        == ObjectPredicate(format: "price > 3 AND name != nil"))
    let derived = entity.attributesByName["count"] as? DerivedAttributeDescription
    #expect(
      derived?.filteringPredicate
        == ObjectPredicate(format: "SUBQUERY(parts, $p, $p.price > 1).@count > 0"))
  }

  @Test("A template comes back with its columns, its groups and what it prefetches")
  func templateParts() throws {
    let model = SampleModels.computedParts()
    let total = ExpressionDescription()
    total.name = "total"
    total.expression = ObjectExpression(format: "sum:(price)")
    total.expressionResultType = .double
    var template = FetchRequestTemplate(entityName: "Item")
    template.dictionaries.propertiesToFetch = [.path("name"), .computed(total)]
    template.dictionaries.propertiesToGroupBy = [.path("name")]
    template.dictionaries.havingPredicate = ObjectPredicate(format: "sum:(price) > 2")
    template.objects.relationshipKeyPathsForPrefetching = ["parts", "parts.owner"]
    model.templatesByName = ["totals": template, "plain": FetchRequestTemplate(entityName: "Item")]
    let copy = try CompiledModel.read(try CompiledModel.write(model))
    #expect(copy == model)
    let read = try #require(copy.templatesByName["totals"])
    guard case .computed(let column)? = read.dictionaries.propertiesToFetch?.last else {
      Issue.record("the computed column is lost")
      return
    }
    #expect(column == total && column.name == "total")
    #expect(read.objects.relationshipKeyPathsForPrefetching == ["parts", "parts.owner"])
    let plain = try #require(copy.templatesByName["plain"])
    #expect(plain.dictionaries.propertiesToFetch == nil)
    #expect(plain.objects.relationshipKeyPathsForPrefetching == nil)
  }

  @Test("A default that is a date of no number can be shown, and is none in a file")
  func defaultOfNoNumber() throws {
    let attribute = AttributeDescription(
      name: "made", type: .date, defaultValue: Date(timeIntervalSinceReferenceDate: .nan))
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "Item", properties: [attribute])]
    #expect(model.description.contains("defaultValue nan"))
    let copy = try CompiledModel.read(try CompiledModel.write(model))
    let read = try #require(copy.entitiesByName["Item"]?.attributesByName["made"])
    #expect(read.defaultValue == nil)
  }

  @Test("Subentities that multiply what they inherit are refused")
  func multipliedProperties() throws {
    var archive = KeyedArchiveBuilder()
    let root = archive.reserve()
    let attributes = (0..<5000).map { index in
      let name = archive.add(text: "a\(index)")
      let fields = [
        ("NSPropertyName", PropertyListValue.uid(name.uid)), ("NSAttributeType", .integer(700)),
      ]
      return (name, archive.add("NSAttributeDescription", fields))
    }
    let properties = archive.add(dictionary: attributes)
    let parentName = archive.add(text: "Parent")
    let parent = archive.add(
      "NSEntityDescription",
      [("NSEntityName", .uid(parentName.uid)), ("NSProperties", .uid(properties.uid))])
    let children = (0..<200).map { index in
      let name = archive.add(text: "E\(index)")
      let fields = [
        ("NSEntityName", PropertyListValue.uid(name.uid)), ("NSSuperentity", .uid(parent.uid)),
      ]
      return (name, archive.add("NSEntityDescription", fields))
    }
    let entities = archive.add(dictionary: [(parentName, parent)] + children)
    archive.fill(root, "NSManagedObjectModel", [("NSEntities", .uid(entities.uid))])
    let bytes = archive.data(root: root)
    let error = try #require(throws: ModelFileError.self) { try CompiledModel.read(bytes) }
    #expect(error.problems.first?.code == .tooLarge)
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
}
