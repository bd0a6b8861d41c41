import CairnStore
import CairnXML
import Foundation

/// Reads an XML store's file; every problem is an error that names the line.
struct XMLDocumentReader {
  private var scanner: XMLScanner
  /// Whether elements and attributes that the format does not know are refused.
  private let isStrict: Bool
  private let path: String

  init(_ data: Data, path: String, isStrict: Bool) {
    self.path = path
    self.isStrict = isStrict
    scanner = XMLScanner(data, .dataFile)
  }

  /// The whole document.
  ///
  /// - Throws: 134000 for a file that is no XML store in UTF-8, 259 (corrupt file) for a damaged one.
  mutating func read() throws -> XMLStoreDocument {
    try read(objects: true)
  }

  /// The document without its objects; the rest of the file is not looked at.
  mutating func readInfo() throws -> XMLStoreDocument {
    try read(objects: false)
  }

  /// The error for something wrong at a place in the file.
  func damage(_ message: String, at place: Int) -> CoreDataError {
    let line = scanner.line(at: place)
    return CoreDataError(
      .fileReadCorruptFile,
      "The XML store at \(path) cannot be read: line \(line): \(message). The file was left as it "
        + "is; mend that line or restore a copy.",
      userInfo: [NSFilePathErrorKey: path, "reason": message, "line": line])
  }

  private static func foreign(_ path: String, _ message: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreInvalidType, "\(path) is not an XML store: \(message).",
      userInfo: [NSFilePathErrorKey: path])
  }

  // MARK: Elements

  private mutating func read(objects: Bool) throws -> XMLStoreDocument {
    do {
      return try document(objects: objects)
    } catch let problem as XMLScanner.Problem {
      throw damage(problem.message, at: problem.place)
    }
  }

  private mutating func document(objects: Bool) throws -> XMLStoreDocument {
    let first: XMLScanner.Event
    do {
      first = try scanner.next()
    } catch let problem as XMLScanner.Problem {
      throw Self.foreign(path, problem.message)
    }
    guard case .start("database", _) = first else {
      throw Self.foreign(path, "it does not begin with the element database")
    }
    var document = XMLStoreDocument()
    var hasInfo = false
    while let (name, attributes) = try child(of: "database") {
      switch name {
      case "databaseInfo":
        if hasInfo { throw damage("databaseInfo is there twice", at: scanner.eventStart) }
        try info(into: &document)
        hasInfo = true
        if !objects { return document }
      case "object":
        if objects { document.objects.append(try object(attributes)) }
      default:
        try unknown(name)
      }
    }
    guard hasInfo else { throw damage("there is no databaseInfo", at: scanner.position) }
    guard case .endOfDocument = try scanner.next() else {
      throw damage("there is something after the database", at: scanner.eventStart)
    }
    return document
  }

  private mutating func info(into document: inout XMLStoreDocument) throws {
    while let (name, _) = try child(of: "databaseInfo") {
      let place = scanner.eventStart
      switch name {
      case "version":
        let text = try self.text(of: name)
        guard let version = Int64(text) else {
          throw damage("the version \"\(text)\" is no number", at: place)
        }
        if version > XMLStoreDocument.version {
          throw damage(
            "the format version \(version) is newer than \(XMLStoreDocument.version), the one that "
              + "is known here", at: place)
        }
      case "UUID":
        document.uuid = try text(of: name).trimmingCharacters(in: .whitespacesAndNewlines)
      case "nextObjectID":
        let text = try self.text(of: name)
        guard let number = Int64(text), number >= 0 else {
          throw damage("nextObjectID \"\(text)\" is no number", at: place)
        }
        document.highestNumber = number
      case "metadata":
        document.metadata = try metadata()
      default:
        try unknown(name)
      }
    }
    if document.uuid.isEmpty { throw damage("the store has no UUID", at: scanner.eventStart) }
  }

  private mutating func metadata() throws -> [String: Any] {
    var result: [String: Any] = [:]
    while let (name, _) = try child(of: "metadata") {
      guard name == "plist" else {
        try unknown(name)
        continue
      }
      let start = scanner.eventStart
      try skipElement()
      var list = Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
      list.append(scanner.slice(start..<scanner.position))
      guard
        let value = try? PropertyListSerialization.propertyList(from: list, format: nil),
        let dictionary = value as? [String: Any]
      else { throw damage("the metadata is no property list with a dictionary", at: start) }
      result = dictionary
    }
    return result
  }

  private mutating func object(_ facts: [String: String]) throws -> XMLStoreDocument.Object {
    let place = scanner.eventStart
    try check(facts, of: "object", known: ["type", "id"])
    guard let entity = facts["type"], !entity.isEmpty else {
      throw damage("an object has no type", at: place)
    }
    guard let number = facts["id"].flatMap(Self.number) else {
      throw damage("the id \"\(facts["id"] ?? "")\" is not a z and a number", at: place)
    }
    var object = XMLStoreDocument.Object(entity: entity, number: number, place: place)
    while let (name, attributes) = try child(of: "object") {
      switch name {
      case "attribute": object.attributes.append(try attribute(attributes))
      case "relationship": object.relationships.append(try relationship(attributes))
      default: try unknown(name)
      }
    }
    return object
  }

  private mutating func attribute(
    _ facts: [String: String]
  ) throws -> XMLStoreDocument.Attribute {
    let place = scanner.eventStart
    try check(facts, of: "attribute", known: ["name", "type"])
    guard let name = facts["name"], !name.isEmpty else {
      throw damage("an attribute has no name", at: place)
    }
    return XMLStoreDocument.Attribute(
      name: name, type: facts["type"] ?? "", text: try text(of: "attribute"), place: place)
  }

  private mutating func relationship(
    _ facts: [String: String]
  ) throws -> XMLStoreDocument.Relationship {
    let place = scanner.eventStart
    try check(facts, of: "relationship", known: ["name", "type", "destination", "idrefs"])
    guard let name = facts["name"], !name.isEmpty else {
      throw damage("a relationship has no name", at: place)
    }
    let members = try (facts["idrefs"] ?? "").split(whereSeparator: \.isWhitespace).map { word in
      guard let number = Self.number(String(word)) else {
        throw damage("\"\(word)\" in idrefs is not a z and a number", at: place)
      }
      return number
    }
    let rest = try text(of: "relationship")
    if !rest.allSatisfy(\.isWhitespace) {
      throw damage("the relationship \(name) has text inside", at: place)
    }
    return XMLStoreDocument.Relationship(
      name: name, type: facts["type"] ?? "", destination: facts["destination"] ?? "",
      members: members, place: place)
  }

  // MARK: Parts

  /// The number in `z102`.
  static func number(_ id: String) -> Int64? {
    guard id.first == "z", let number = Int64(id.dropFirst()), number > 0 else { return nil }
    return number
  }

  /// The next element inside another; nil at its end.
  private mutating func child(
    of parent: String
  ) throws -> (name: String, attributes: [String: String])? {
    while true {
      switch try scanner.next() {
      case .start(let name, let attributes): return (name, attributes)
      case .end: return nil
      case .text(let text):
        if !text.allSatisfy(\.isWhitespace) {
          throw damage("there is text directly inside \(parent)", at: scanner.eventStart)
        }
      case .endOfDocument: return nil
      }
    }
  }

  /// The text up to the end of the current element, which has no others inside.
  private mutating func text(of element: String) throws -> String {
    var result = ""
    while true {
      switch try scanner.next() {
      case .text(let text): result += text
      case .end: return result
      case .start(let name, _):
        throw damage("\(name) does not belong inside \(element)", at: scanner.eventStart)
      case .endOfDocument: return result
      }
    }
  }

  private mutating func skipElement() throws {
    var depth = 1
    while depth > 0 {
      switch try scanner.next() {
      case .start: depth += 1
      case .end: depth -= 1
      case .text: continue
      case .endOfDocument: return
      }
    }
  }

  private mutating func unknown(_ name: String) throws {
    if isStrict { throw damage("the format has no element \(name) here", at: scanner.eventStart) }
    try skipElement()
  }

  private func check(
    _ facts: [String: String], of element: String, known: Set<String>
  ) throws {
    guard isStrict, let name = facts.keys.filter({ !known.contains($0) }).min() else { return }
    throw damage("\(element) has an unknown attribute \(name)", at: scanner.eventStart)
  }
}
