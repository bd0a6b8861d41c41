import CairnModel
import CairnPredicates
import Foundation

/// A compiled mapping model (`.cdm`), as Xcode's mapping model compiler writes it: a keyed archive of
/// an `NSMappingModel`.
///
/// Unlike the editor's document it has the version hashes of both sides of each entity mapping, and
/// every expression.
package struct MappingArchive {
  /// How one destination property gets its value.
  package struct Property {
    package let name: String
    /// Nil leaves the destination's default.
    package let expression: ObjectExpression?
    package let userInfo: [AnyHashable: Any]?
  }

  /// How the objects of one destination entity come to be.
  package struct Entity {
    package let name: String?
    /// `NSEntityMappingType` as a number.
    package let type: Int
    package let sourceName: String?
    package let sourceVersionHash: Data?
    package let destinationName: String?
    package let destinationVersionHash: Data?
    package let policyClassName: String?
    package let sourceExpression: ObjectExpression?
    package let attributes: [Property]
    package let relationships: [Property]
    package let userInfo: [AnyHashable: Any]?
  }

  /// In their order.
  package let entities: [Entity]

  /// More than any mapping model has.
  private static let maximumBytes = 64 << 20

  /// Reads the archive; nothing in it is instantiated by its class name.
  ///
  /// - Throws: ``ModelFileError``, never anything worse, whatever the bytes.
  package init(_ data: Data, file: String) throws {
    guard data.count <= Self.maximumBytes else {
      throw ModelFileError(file: file, .tooLarge, "The archive is larger than 64 MiB.")
    }
    let archive: KeyedArchive
    do {
      archive = try KeyedArchive(data)
    } catch let malformed as BinaryPropertyList.Malformed {
      throw ModelFileError(file: file, .malformed, malformed.description)
    }
    guard let root = archive.root, root.className == "NSMappingModel" else {
      throw ModelFileError(
        file: file, .notAModel,
        "The archive holds \(archive.root?.className ?? "nothing"), not a mapping model.")
    }
    let reading = MappingUnarchiving(file: file)
    entities = try reading.objects(root, "NSEntityMappings", "NSEntityMapping")
      .map(reading.entity)
  }
}

/// Reads the parts of one archive, which share a budget.
private struct MappingUnarchiving {
  let file: String
  let values = ArchivedFoundationValues()
  private var expressions: PredicateUnarchiving { PredicateUnarchiving(values: values, file: file) }

  init(file: String) { self.file = file }

  /// The members of an array, all of one class.
  func objects(
    _ owner: ArchivedObject, _ key: String, _ className: String
  ) throws -> [ArchivedObject] {
    try owner.members(key).map { member in
      guard case .object(let object) = member, object.className == className else {
        throw ModelFileError(
          file: file, .invalidValue, "\(key) of the archive holds something else than mappings.")
      }
      guard values.spendProperty() else {
        throw ModelFileError(
          file: file, .tooLarge, "The archive has more mappings than any mapping model.")
      }
      return object
    }
  }

  func entity(_ object: ArchivedObject) throws -> MappingArchive.Entity {
    let source = text(object, "NSSourceEntityName")
    let destination = text(object, "NSDestinationEntityName")
    guard source != nil || destination != nil else {
      throw ModelFileError(
        file: file, .missingValue,
        "The mapping \(text(object, "NSMappingName") ?? "without name") names no entity.")
    }
    return MappingArchive.Entity(
      name: text(object, "NSMappingName"), type: object.integer("NSMappingType") ?? 0,
      sourceName: source, sourceVersionHash: data(object, "NSSourceEntityVersionHash"),
      destinationName: destination,
      destinationVersionHash: data(object, "NSDestinationEntityVersionHash"),
      policyClassName: text(object, "NSEntityMigrationPolicyClassName"),
      sourceExpression: try expression(object, "NSSourceExpression"),
      attributes: try objects(object, "NSAttributeMappings", "NSPropertyMapping").map(property),
      relationships: try objects(object, "NSRelationshipMappings", "NSPropertyMapping")
        .map(property), userInfo: notes(object))
  }

  private func property(_ object: ArchivedObject) throws -> MappingArchive.Property {
    guard let name = text(object, "NSDestinationPropertyName") else {
      throw ModelFileError(file: file, .missingValue, "A property mapping has no name.")
    }
    // A mapping that says nothing but how to transform a value would leave it out.
    guard object.members("NSPropertyTransforms").isEmpty else {
      throw ModelFileError(
        file: file, .invalidValue,
        "The mapping of \(name) has property transforms, which Cairn does not know.")
    }
    return MappingArchive.Property(
      name: name, expression: try expression(object, "NSValueExpression"),
      userInfo: notes(object))
  }

  private func expression(
    _ object: ArchivedObject, _ key: String
  ) throws -> ObjectExpression? {
    try object.object(key).map { try expressions.expression($0) }
  }

  private func notes(_ object: ArchivedObject) -> [AnyHashable: Any]? {
    values.value(object["NSUserInfo"]) as? [AnyHashable: Any]
  }

  /// Nil when it is missing or empty.
  private func text(_ object: ArchivedObject, _ key: String) -> String? {
    object.text(key).flatMap { $0.isEmpty ? nil : $0 }
  }

  private func data(_ object: ArchivedObject, _ key: String) -> Data? {
    switch object[key] {
    case .data(let bytes): return bytes
    case .object(let object): return values.value(.object(object)) as? Data
    case .none, .bool, .integer, .real, .date, .string: return nil
    }
  }
}
