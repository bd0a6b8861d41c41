import CairnModel
import CairnXML
import Foundation

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
    var builder = RecordBuilder()
    let title = "The document is no mapping model as the model editor writes it"
    try ModelXML.scan(data, file: file, otherwise: title) { event, line in
      builder.take(event)
      guard builder.isDatabase else {
        throw ModelFileError(file: file, .notAModel, "\(title).", line: line)
      }
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

/// Gathers records from the document's events.
private struct RecordBuilder {
  private(set) var records: [StoredRecords.Record] = []
  /// Whether the outermost element is that of a store.
  private(set) var isDatabase = true
  private var current: StoredRecords.Record?
  private var attribute: String?
  private var text = ""
  private var depth = 0

  mutating func take(_ event: XMLScanner.Event) {
    switch event {
    case .start(let name, let attributes): begin(name, attributes)
    case .text(let more): if attribute != nil { text += more }
    case .end(let name): end(name)
    case .endOfDocument: break
    }
  }

  private mutating func begin(_ name: String, _ facts: [String: String]) {
    if depth == 0 { isDatabase = name == "database" }
    depth += 1
    switch name {
    case "object":
      current = StoredRecords.Record(type: facts["type"] ?? "", id: facts["id"] ?? "")
    case "attribute":
      attribute = facts["name"]
      text = ""
    case "relationship":
      if let name = facts["name"] {
        current?.references[name] = (facts["idrefs"] ?? "")
          .split(whereSeparator: \.isWhitespace).map(String.init)
      }
    default: break
    }
  }

  private mutating func end(_ name: String) {
    depth -= 1
    switch name {
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
