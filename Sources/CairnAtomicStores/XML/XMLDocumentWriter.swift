import CairnStore
import Foundation

/// Writes an XML store's file as Core Data does, indented by four spaces.
struct XMLDocumentWriter {
  private var bytes = Data()

  /// The file of a document.
  ///
  /// - Throws: 134060 for metadata that is no property list.
  static func data(of document: XMLStoreDocument) throws -> Data {
    var writer = XMLDocumentWriter()
    try writer.write(document)
    return writer.bytes
  }

  private mutating func write(_ document: XMLStoreDocument) throws {
    add("<?xml version=\"1.0\" standalone=\"yes\"?>\n")
    add("<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n\n")
    add("<database>\n    <databaseInfo>\n")
    add("        <version>\(XMLStoreDocument.version)</version>\n")
    add("        <UUID>\(Self.escaped(document.uuid))</UUID>\n")
    add("        <nextObjectID>\(document.highestNumber)</nextObjectID>\n")
    add("        <metadata>\n            <plist version=\"1.0\">\n")
    try write(propertyList: document.metadata, indent: 16)
    add("            </plist>\n        </metadata>\n    </databaseInfo>\n")
    for object in document.objects { write(object) }
    add("</database>")
  }

  private mutating func write(_ object: XMLStoreDocument.Object) {
    add("    <object type=\"\(Self.escaped(object.entity))\" id=\"z\(object.number)\">\n")
    for attribute in object.attributes {
      add("        <attribute name=\"\(Self.escaped(attribute.name))\" type=\"\(attribute.type)\">")
      add(Self.escaped(attribute.text))
      add("</attribute>\n")
    }
    for relationship in object.relationships {
      add("        <relationship name=\"\(Self.escaped(relationship.name))\"")
      add(" type=\"\(relationship.type)\"")
      add(" destination=\"\(Self.escaped(relationship.destination))\"")
      if !relationship.members.isEmpty {
        add(" idrefs=\"" + relationship.members.map { "z\($0)" }.joined(separator: " ") + "\"")
      }
      add("></relationship>\n")
    }
    add("    </object>\n")
  }

  // MARK: Property lists

  private mutating func write(propertyList value: Any, indent: Int) throws {
    let space = String(repeating: " ", count: indent)
    switch value {
    case let dictionary as [String: Any]:
      if dictionary.isEmpty { return add("\(space)<dict/>\n") }
      add("\(space)<dict>\n")
      for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
        add("\(space)    <key>\(Self.escaped(key))</key>\n")
        try write(propertyList: value, indent: indent + 4)
      }
      add("\(space)</dict>\n")
    case let array as [Any]:
      if array.isEmpty { return add("\(space)<array/>\n") }
      add("\(space)<array>\n")
      for value in array { try write(propertyList: value, indent: indent + 4) }
      add("\(space)</array>\n")
    case let text as String: add("\(space)<string>\(Self.escaped(text))</string>\n")
    case let data as Data:
      add("\(space)<data>\n")
      let text = data.base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
      for line in text.split(separator: "\n") { add("\t\t\(line)\n") }
      add("\t\t</data>\n")
    case let date as Date: add("\(space)<date>\(Self.time(of: date))</date>\n")
    case let number as NSNumber: add("\(space)\(Self.element(of: number))\n")
    default:
      throw CoreDataError(
        .coreData,
        "The store's metadata holds a \(type(of: value)); only property-list values can be stored.")
    }
  }

  private static func element(of number: NSNumber) -> String {
    if number === NSNumber(value: true) { return "<true/>" }
    if number === NSNumber(value: false) { return "<false/>" }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "f"), UInt8(ascii: "d"): return "<real>\(number.doubleValue)</real>"
    case UInt8(ascii: "Q"): return "<integer>\(number.uint64Value)</integer>"
    default: return "<integer>\(number.int64Value)</integer>"
    }
  }

  private static func time(of date: Date) -> String {
    date.formatted(.iso8601)
  }

  // MARK: Text

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Text for elements and attributes; what XML would not keep is written by number.
  static func escaped(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy {
      $0 >= 0x20 && $0 != 0x26 && $0 != 0x3C && $0 != 0x3E && $0 != 0x22 && $0 != 0x7F
    }
    if isPlain { return text }
    var result = ""
    result.unicodeScalars.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{7F}", "\u{FFFE}", "\u{FFFF}": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
