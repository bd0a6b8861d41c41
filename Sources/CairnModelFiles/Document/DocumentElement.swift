import CairnModel
import Foundation

/// One element of an XML document, with the line it begins on.
final class DocumentElement {
  let name: String
  let attributes: [String: String]
  let line: Int
  private(set) var children: [DocumentElement] = []

  private init(name: String, attributes: [String: String], line: Int) {
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
  /// - Throws: ``ModelFileError`` with the line on which the document breaks.
  static func parse(_ data: Data, file: String) throws -> DocumentElement {
    var open: [DocumentElement] = []
    var root: DocumentElement?
    let title = "The document is not well-formed XML"
    try ModelXML.scan(data, file: file, otherwise: title) { event, line in
      switch event {
      case .start(let name, let attributes):
        let element = DocumentElement(name: name, attributes: attributes, line: line)
        open.last?.children.append(element)
        root = root ?? element
        open.append(element)
      case .end: open.removeLast()
      case .text, .endOfDocument: break
      }
    }
    guard let root else { throw ModelFileError(file: file, .malformed, "\(title).", line: 1) }
    return root
  }
}
