import CairnModel
import Foundation
import FoundationXML

/// One element of an XML document, with the line it begins on.
final class DocumentElement {
  let name: String
  let attributes: [String: String]
  let line: Int
  fileprivate(set) var children: [DocumentElement] = []

  fileprivate init(name: String, attributes: [String: String], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  subscript(_ attribute: String) -> String? { attributes[attribute] }

  func children(named name: String) -> [DocumentElement] {
    children.filter { $0.name == name }
  }

  func firstChild(named name: String) -> DocumentElement? {
    children.first { $0.name == name }
  }

  /// Reads a whole document.
  ///
  /// External entities are never loaded.
  ///
  /// - Throws: ``ModelFileError`` with the line on which the document breaks.
  static func parse(_ data: Data, file: String) throws -> DocumentElement {
    guard data.count <= 64 << 20 else {
      throw ModelFileError(file: file, .tooLarge, "The document is larger than 64 MiB.")
    }
    guard XMLBytes.areSafe(data) else {
      throw ModelFileError(file: file, .malformed, XMLBytes.refusal)
    }
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    let builder = DocumentBuilder()
    parser.delegate = builder
    let isWhole = parser.parse()
    if let failure = builder.failure {
      throw ModelFileError(file: file, .tooLarge, failure, line: parser.lineNumber)
    }
    // The parser mends some documents and then reports success; its error tells.
    let mended = builder.error ?? parser.parserError
    guard isWhole, mended == nil, builder.isBalanced, let root = builder.root else {
      let reason = mended.map { ": \($0.localizedDescription)" } ?? "."
      throw ModelFileError(
        file: file, .malformed, "The document is not well-formed XML\(reason)",
        line: max(builder.errorLine ?? parser.lineNumber, 1))
    }
    return root
  }
}

/// Builds the tree from the parser's events.
private final class DocumentBuilder: NSObject, XMLParserDelegate {
  var root: DocumentElement?
  var failure: String?
  /// The first error, also of those that the parser goes on after.
  var error: (any Error)?
  var errorLine: Int?
  var isBalanced: Bool { open.isEmpty }
  private var open: [DocumentElement] = []

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    guard error == nil else { return }
    error = parseError
    errorLine = parser.lineNumber
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes attributeDict: [String: String]
  ) {
    let element = DocumentElement(
      name: elementName, attributes: attributeDict, line: parser.lineNumber)
    if let parent = open.last {
      parent.children.append(element)
    } else if root == nil {
      root = element
    }
    open.append(element)
    if open.count > 64 {
      failure = "Elements are nested deeper than 64 levels; models need nine."
      parser.abortParsing()
    }
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?
  ) {
    _ = open.popLast()
  }
}
