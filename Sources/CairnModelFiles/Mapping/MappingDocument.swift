import CairnModel
import CairnPredicates
import Foundation

/// A mapping model as Xcode's editor writes it: `Name.xcmappingmodel/xcmapping.xml`, a Core Data
/// XML store with one object for each mapping.
///
/// Only what is needed to migrate is kept. Source: the notes on mapping models in the description
/// of the model format.
package struct MappingDocument: Sendable {
  /// How one destination property gets its value.
  package struct Property: Sendable {
    package let name: String
    /// What the editor recorded; nil when it left the value to be derived.
    package let expression: ObjectExpression?
    /// A relationship of the source whose destinations are mapped, when the editor recorded one.
    package let sourceKeyPath: String?
    /// The mapping that made those destinations.
    package let sourceMappingName: String?
  }

  /// How the objects of one destination entity come to be.
  package struct Entity: Sendable {
    /// The name people gave it, nil for the editor's usual one.
    package let name: String?
    /// Its place in the order.
    package let number: Int
    package let sourceName: String?
    package let destinationName: String?
    /// The class of the migration policy, nil for none.
    package let policyClassName: String?
    package let sourceExpression: ObjectExpression?
    package let attributes: [Property]
    package let relationships: [Property]
  }

  /// In their order.
  package let entities: [Entity]
  /// The versions that the mapping leads from and to; nil where the document does not hold them.
  package let source: EditedModel?
  package let destination: EditedModel?

  /// Reads the document.
  ///
  /// - Throws: ``ModelFileError``.
  package init(_ data: Data, file: String) throws {
    let records = try StoredRecords(data, file: file)
    guard let model = records.all.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
      throw ModelFileError(
        file: file, .notAModel, "The document holds no mapping model (XDDevMappingModel).")
    }
    source = model.edited("sourcemodeldata")
    destination = model.edited("destinationmodeldata")
    entities = try records.all.filter { $0.type == "XDDEVENTITYMAPPING" }
      .map { try Self.entity($0, in: records, file: file) }
      .sorted { ($0.number, $0.destinationName ?? "") < ($1.number, $1.destinationName ?? "") }
  }

  private static func entity(
    _ record: StoredRecords.Record, in records: StoredRecords, file: String
  ) throws -> Entity {
    func properties(_ relationship: String) throws -> [Property] {
      try records.members(of: record, relationship).map { member in
        guard let name = member.text("name"), !name.isEmpty else {
          throw ModelFileError(
            file: file, .missingValue, "The property mapping \(member.id) has no name.")
        }
        return Property(
          name: name, expression: try member.expression("valueexpressiondata", file: file),
          sourceKeyPath: member.text("sourcekeypath"),
          sourceMappingName: member.text("sourcemappingname"))
      }.sorted { $0.name.precedesByCodePoints($1.name) }
    }
    return Entity(
      name: record.text("name"), number: record.text("mappingnumber").flatMap { Int($0) } ?? 0,
      sourceName: record.text("sourcename"), destinationName: record.text("destinationname"),
      policyClassName: record.text("migrationpolicyclassname"),
      sourceExpression: try record.expression("sourceexpressiondata", file: file),
      attributes: try properties("attributemappings"),
      relationships: try properties("relationshipmappings"))
  }
}

extension StoredRecords.Record {
  /// A model version of the editor, nil when it is not there or cannot be read.
  fileprivate func edited(_ name: String) -> EditedModel? {
    text(name).flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
      .flatMap(EditedModel.init)
  }

  /// An archived expression, nil when the attribute is not there.
  fileprivate func expression(_ name: String, file: String) throws -> ObjectExpression? {
    guard let text = text(name) else { return nil }
    let root = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
      .flatMap { try? KeyedArchive($0) }?.root
    guard let root else {
      throw ModelFileError(
        file: file, .invalidPredicate, "The expression \(name) of \(id) is no keyed archive.")
    }
    return try PredicateUnarchiving(values: ArchivedFoundationValues(), file: file)
      .expression(root)
  }
}
