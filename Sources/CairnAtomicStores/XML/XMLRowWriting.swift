import CairnModel
import CairnStore
import Foundation

/// Makes a document's objects of rows, by ascending number.
struct XMLRowWriting {
  let tables: MemoryTables

  func objects() throws -> [XMLStoreDocument.Object] {
    try tables.allRows.map(object)
  }

  private func object(of row: RowSnapshot) throws -> XMLStoreDocument.Object {
    let id = row.objectID
    let layout: EntityLayout = id.entity.layout
    var object = XMLStoreDocument.Object(
      entity: XMLNames.entity(id.entity.name ?? ""), number: id.rowKey ?? 0)
    for slot in layout.persistentSlots {
      switch layout.slots[slot].content {
      case .attribute(let attribute):
        guard let text = try XMLValues.text(of: row[slot]) else { continue }
        object.attributes.append(
          .init(
            name: XMLNames.property(layout.slots[slot].name),
            type: XMLValues.name(of: attribute.attributeType), text: text))
      case .toOne(let relationship):
        var members: [Int64] = []
        if case .object(let target) = row[slot], let number = target.rowKey { members = [number] }
        object.relationships.append(element(of: relationship, members: members))
      }
    }
    for relationship in layout.toManys where !relationship.isTransient {
      let members = tables.members(of: relationship, owner: id).compactMap(\.rowKey)
      object.relationships.append(element(of: relationship, members: members))
    }
    return object
  }

  private func element(
    of relationship: RelationshipDescription, members: [Int64]
  ) -> XMLStoreDocument.Relationship {
    XMLStoreDocument.Relationship(
      name: XMLNames.property(relationship.name),
      type: relationship.isToMany
        ? "\(relationship.minCount)/\(relationship.maxCount)" : "1/1",
      destination: XMLNames.entity(relationship.destinationEntity?.name ?? ""), members: members)
  }
}

/// Values as the format spells them.
enum XMLValues {
  /// The name of a type in the file; transformable values are written as the data they are stored
  /// as.
  static func name(of type: AttributeType) -> String {
    switch type {
    case .integer16: return "int16"
    case .integer32: return "int32"
    case .integer64: return "int64"
    case .decimal: return "decimal"
    case .double: return "double"
    case .float: return "float"
    case .string: return "string"
    case .boolean: return "bool"
    case .date: return "date"
    case .binaryData, .transformable: return "binary"
    case .uuid: return "uuid"
    case .uri: return "uri"
    case .undefined, .objectID, .composite: return "undefined"
    }
  }

  /// The text of a value; nil for no value.
  ///
  /// - Throws: 134030 for an object, which is no attribute's value.
  static func text(of value: AttributeValue) throws -> String? {
    switch value {
    case .null: return nil
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return String(number)
    case .float(let number): return number.description
    case .double(let number): return number.description
    case .decimal(let number): return number.isNaN ? "NaN" : number.description
    case .string(let text): return text
    case .date(let date): return value.isNaN ? nil : text(of: date)
    case .data(let data): return data.base64EncodedString()
    case .uuid(let uuid): return uuid.uuidString
    case .url(let url): return url.absoluteString
    case .object:
      throw CoreDataError(.persistentStoreSave, "An attribute cannot hold an object.")
    }
  }

  /// Seconds since 2001 with twenty decimals, or in full where those do not suffice.
  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let text = String(format: "%.20f", seconds)
    return Double(text) == seconds ? text : seconds.description
  }

  /// The value of a text for an attribute of a type; nil when it is none.
  static func value(of text: String, for type: AttributeType) -> AttributeValue? {
    func trimmed() -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
    switch type {
    // A context checks no number against its attribute's width, and so no store may at reading.
    case .integer16, .integer32, .integer64: return Int64(trimmed()).map { .integer($0) }
    case .decimal:
      let word = trimmed()
      if word == "NaN" { return .decimal(.nan) }
      guard word.wholeMatch(of: /[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?/) != nil
      else {
        return nil
      }
      return Decimal(string: word).map { .decimal($0) }
    case .double: return Double(trimmed()).map { .double($0) }
    case .float: return Float(trimmed()).map { .float($0) }
    case .string: return .string(text)
    case .boolean:
      switch trimmed() {
      case "1", "true", "YES": return .boolean(true)
      case "0", "false", "NO": return .boolean(false)
      default: return nil
      }
    case .date:
      return Double(trimmed()).map { .date(after: $0) }
    case .binaryData, .transformable:
      let compact = String(text.filter { !$0.isWhitespace })
      return Data(base64Encoded: compact).map { .data($0) }
    case .uuid: return UUID(uuidString: trimmed()).map { .uuid($0) }
    case .uri: return URL(string: trimmed()).map { .url($0) }
    case .undefined, .objectID, .composite: return nil
    }
  }
}
