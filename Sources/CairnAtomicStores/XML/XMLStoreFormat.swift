import CairnModel
import CairnStore
import Foundation

/// Core Data's XML format: entity names in upper case, property names in lower case, values as
/// text.
struct XMLStoreFormat: WholeFileFormat {
  /// The first object of a new store is `z102`.
  private static let firstNumber: Int64 = 102

  var type: String { StoreTypeName.xml }
  var rowPrefix: String { "z" }

  func check(_ model: ManagedObjectModel) throws {
    try XMLNames.check(model)
  }

  func emptyTables() -> MemoryTables {
    MemoryTables(manner: .wholeFile, lastKey: Self.firstNumber - 1)
  }

  func content(
    of data: Data, path: String, model: ManagedObjectModel, identity: StoreIdentity,
    options: StoreOptions
  ) throws -> WholeFileContent {
    // A save would lose what the format does not know.
    var reader = XMLDocumentReader(
      data, path: path, isStrict: !options.isReadOnly || options.flag(StoreOptionKey.validateXML))
    let document = try reader.read()
    let tables = try XMLRowReading(
      document: document, reader: reader, model: model, identity: identity
    ).tables(lastKey: max(document.highestNumber, Self.firstNumber - 1))
    return WholeFileContent(metadata: Self.full(document), tables: tables)
  }

  func metadata(of data: Data, path: String) throws -> [String: Any] {
    var reader = XMLDocumentReader(data, path: path, isStrict: false)
    return Self.full(try reader.readInfo())
  }

  func data(of content: WholeFileContent, model: ManagedObjectModel) throws -> Data {
    var document = XMLStoreDocument()
    Self.put(content.metadata, into: &document)
    document.highestNumber = content.tables.lastKey
    document.objects = try XMLRowWriting(tables: content.tables).objects()
    return try XMLDocumentWriter.data(of: document)
  }

  func data(
    of data: Data, path: String, withMetadata metadata: [String: Any]
  ) throws -> Data {
    var reader = XMLDocumentReader(data, path: path, isStrict: true)
    var document = try reader.read()
    Self.put(metadata, into: &document)
    return try XMLDocumentWriter.data(of: document)
  }

  // MARK: Metadata

  private static func full(_ document: XMLStoreDocument) -> [String: Any] {
    var metadata = document.metadata
    metadata[StoreMetadataKey.type] = StoreTypeName.xml
    metadata[StoreMetadataKey.uuid] = document.uuid
    return metadata
  }

  private static func put(_ metadata: [String: Any], into document: inout XMLStoreDocument) {
    document.metadata = metadata
    document.metadata[StoreMetadataKey.type] = nil
    document.metadata[StoreMetadataKey.uuid] = nil
    if let uuid = metadata[StoreMetadataKey.uuid] as? String { document.uuid = uuid }
  }
}

/// Names as the format spells them.
enum XMLNames {
  static func entity(_ name: String) -> String { name.uppercased() }
  static func property(_ name: String) -> String { name.lowercased() }

  /// - Throws: 134020 when two entities, or two properties of an entity, would have one name.
  static func check(_ model: ManagedObjectModel) throws {
    func refuse(_ a: String, _ b: String) -> CoreDataError {
      CoreDataError(
        .persistentStoreIncompatibleSchema,
        "\(a) and \(b) differ only in case, which the XML format does not tell apart.",
        userInfo: ["reason": "Names in XML stores must differ in more than case."])
    }
    var entities: [String: String] = [:]
    for entity in model.entities {
      let name = entity.name ?? ""
      if let other = entities.updateValue(name, forKey: Self.entity(name)) {
        throw refuse(other, name)
      }
      var properties: [String: String] = [:]
      for property in entity.layout.slots.map(\.name) + entity.layout.toManys.map(\.name) {
        if let other = properties.updateValue(property, forKey: Self.property(property)) {
          throw refuse("\(name).\(other)", "\(name).\(property)")
        }
      }
    }
  }
}
