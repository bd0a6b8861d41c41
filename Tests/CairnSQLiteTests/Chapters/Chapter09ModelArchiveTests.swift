import CairnModel
import CairnPredicates
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 9: the archive of a model, which `Z_MODELCACHE` holds.
///
/// That archives of Apple's compiler and framework are read is shown by `CompiledPackageTests` and
/// ``AppleStoreTests``.
@Suite struct Chapter09ModelArchiveTests {
  /// The dictionaries among an archive's objects.
  private func objects() throws -> (top: [String: Any], objects: [[String: Any]]) {
    let model = try #require(try SampleModel.make().copy() as? ManagedObjectModel)
    let employee = try #require(model.entitiesByName["Employee"])
    let age = try #require(employee.attributesByName["age"])
    age.setValidationPredicates(
      [ObjectPredicate(format: "SELF >= 0")], withValidationWarnings: [1620])
    employee.properties.append(FormatModel.derived("sum", .integer64, "reports.@count"))
    employee.indexes = [
      FetchIndexDescription(
        name: "byAge",
        elements: [FetchIndexElementDescription(property: age, collationType: .binary)])
    ]
    let archive = try PropertyListSerialization.propertyList(
      from: CompiledModel.write(model), format: nil)
    let top = try #require(archive as? [String: Any])
    return (top, (top["$objects"] as? [Any] ?? []).compactMap { $0 as? [String: Any] })
  }

  @Test func itIsAKeyedArchiveWithAModelAtItsRoot() throws {
    let (top, objects) = try objects()
    #expect(top["$archiver"] as? String == "NSKeyedArchiver")
    #expect(top["$version"] as? Int == 100_000)
    #expect((top["$top"] as? [String: Any]).map { Array($0.keys) } == ["root"])
    let classes = Set(objects.compactMap { $0["$classname"] as? String })
    #expect(
      classes.isSuperset(of: [
        "NSManagedObjectModel", "NSEntityDescription", "NSAttributeDescription",
        "NSDerivedAttributeDescription", "NSRelationshipDescription", "NSFetchIndexDescription",
        "NSFetchIndexElementDescription",
      ]), "\(classes)")
  }

  @Test func itHasTheKeysOfApplesArchives() throws {
    let keys = try objects().objects.map { Set($0.keys) }
    func has(_ wanted: String...) -> Bool { keys.contains { $0.isSuperset(of: wanted) } }
    #expect(has("NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers"))
    #expect(
      has("NSEntityName", "NSClassNameForEntity", "NSProperties", "NSSubentities", "NSUniqueTuples")
    )
    #expect(has("NSPropertyName", "NSEntity", "NSAttributeType", "NSAttributeValueClassName"))
    #expect(has("NSValidationPredicates", "NSValidationWarnings"))
    #expect(has("NSDerivationExpression"))
    #expect(
      has(
        "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship",
        "_NSInverseRelationshipName", "NSDeleteRule", "NSMaxCount"))
    #expect(has("NSIndexName", "NSIndexElements"))
    #expect(has("NSPropertyName", "NSFetchIndexElementType", "NSAscending"))
  }

  @Test func flagsAreTheBitsThatApplesArchivesHave() throws {
    let attributes = try objects().objects.filter { $0["NSAttributeType"] != nil }
    let flags = Set(attributes.compactMap { ($0["NSFlagsKey"] as? NSNumber)?.intValue })
    // External storage, and kept on deletion.
    #expect(flags.isSuperset(of: [4, 16]), "\(flags)")
    // Written only when true.
    #expect(attributes.allSatisfy { ($0["NSIsTransient"] as? Bool) != false })
  }
}
