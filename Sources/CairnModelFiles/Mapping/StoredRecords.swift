import CairnModel
import Foundation
import FoundationXML

/// The objects of a document in the form of Core Data's XML store, without a model: attribute texts
/// and references by name.
struct StoredRecords {
  struct Record {
    let type: String
    let id: String
    var attributes: [String: String] = [:]
    var references: [String: [String]] = [:]

    /// An attribute's text, nil when it is missing or empty.
    func text(_ name: String) -> String? {
      attributes[name].flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  let all: [Record]
  private let byID: [String: Int]

  /// - Throws: ``ModelFileError`` with the line on which the document breaks.
  init(_ data: Data, file: String) throws {
    guard data.count <= 64 << 20 else {
      throw ModelFileError(file: file, .tooLarge, "The document is larger than 64 MiB.")
    }
    guard XMLBytes.areSafe(data) else {
      throw ModelFileError(file: file, .malformed, XMLBytes.refusal)
    }
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    let builder = RecordBuilder()
    parser.delegate = builder
    guard parser.parse(), builder.error == nil, builder.isDatabase else {
      let reason = builder.error.map { ": \($0.localizedDescription)" } ?? "."
      throw ModelFileError(
        file: file, builder.isDatabase ? .malformed : .notAModel,
        "The document is no mapping model as the model editor writes it\(reason)",
        line: max(parser.lineNumber, 1))
    }
    all = builder.records
    byID = Dictionary(
      builder.records.enumerated().map { ($0.element.id, $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The records that a relationship leads to; references to nothing are left out.
  func members(of record: Record, _ relationship: String) -> [Record] {
    (record.references[relationship] ?? []).compactMap { byID[$0].map { all[$0] } }
  }
}

/// Gathers records from the parser's events.
private final class RecordBuilder: NSObject, XMLParserDelegate {
  var records: [StoredRecords.Record] = []
  var isDatabase = false
  var error: (any Error)?
  private var current: StoredRecords.Record?
  private var attribute: String?
  private var text = ""
  private var depth = 0

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    error = error ?? parseError
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes attributeDict: [String: String]
  ) {
    if depth == 0 { isDatabase = elementName == "database" }
    depth += 1
    switch elementName {
    case "object":
      current = StoredRecords.Record(
        type: attributeDict["type"] ?? "", id: attributeDict["id"] ?? "")
    case "attribute":
      attribute = attributeDict["name"]
      text = ""
    case "relationship":
      if let name = attributeDict["name"] {
        current?.references[name] = (attributeDict["idrefs"] ?? "")
          .split(whereSeparator: \.isWhitespace).map(String.init)
      }
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if attribute != nil { text += string }
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?
  ) {
    depth -= 1
    switch elementName {
    case "attribute":
      if let attribute { current?.attributes[attribute] = text }
      attribute = nil
    case "object":
      if let current { records.append(current) }
      current = nil
    default: break
    }
  }
}
