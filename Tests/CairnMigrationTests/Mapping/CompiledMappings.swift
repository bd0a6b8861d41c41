// Mapping models in the form that Xcode's compiler writes, for the tests of reading them.

import Cairn
import Foundation

@testable import CairnModel

enum CompiledMappings {
  /// The bytes of a `.cdm` that holds the mappings.
  static func data(of model: MappingModel) throws -> Data {
    var archive = KeyedArchiveBuilder()
    let mappings = try (model.entityMappings ?? []).map { try add($0, to: &archive) }
    let list = archive.add(list: mappings)
    let root = archive.add("NSMappingModel", [("NSEntityMappings", .uid(list.uid))])
    return archive.data(root: root)
  }

  private static func add(
    _ mapping: EntityMapping, to archive: inout KeyedArchiveBuilder
  ) throws -> KeyedArchiveBuilder.Reference {
    var fields: [(String, PropertyListValue)] = [
      ("NSMappingType", .integer(Int64(mapping.mappingType.rawValue)))
    ]
    for (key, text) in [
      ("NSMappingName", mapping.name), ("NSSourceEntityName", mapping.sourceEntityName),
      ("NSDestinationEntityName", mapping.destinationEntityName),
      ("NSEntityMigrationPolicyClassName", mapping.entityMigrationPolicyClassName),
    ] {
      fields.append((key, .uid(archive.add(text: text).uid)))
    }
    for (key, hash) in [
      ("NSSourceEntityVersionHash", mapping.sourceEntityVersionHash),
      ("NSDestinationEntityVersionHash", mapping.destinationEntityVersionHash),
    ] {
      guard let hash else { continue }
      fields.append((key, .uid(archive.add(plain: .data(hash)).uid)))
    }
    if let expression = mapping.sourceExpression {
      let reference = try PredicateArchiving.add(expression.node, to: &archive)
      fields.append(("NSSourceExpression", .uid(reference.uid)))
    }
    for (key, properties) in [
      ("NSAttributeMappings", mapping.attributeMappings),
      ("NSRelationshipMappings", mapping.relationshipMappings),
    ] {
      let members = try (properties ?? []).map { try add($0, to: &archive) }
      fields.append((key, .uid(archive.add(list: members).uid)))
    }
    let notes = archive.add(value: mapping.userInfo)
    return archive.add("NSEntityMapping", fields + [("NSUserInfo", .uid(notes.uid))])
  }

  private static func add(
    _ property: PropertyMapping, to archive: inout KeyedArchiveBuilder
  ) throws -> KeyedArchiveBuilder.Reference {
    let name = archive.add(text: property.name)
    let expression = try property.valueExpression.map {
      try PredicateArchiving.add($0.node, to: &archive)
    }
    return archive.add(
      "NSPropertyMapping",
      [
        ("NSDestinationPropertyName", .uid(name.uid)),
        ("NSValueExpression", .uid((expression ?? .null).uid)),
        ("NSPropertyTransforms", .uid(0)), ("NSUserInfo", .uid(0)),
      ])
  }
}
