/// An element of an XML document that is being made.
struct NewElement {
  let name: String
  private(set) var attributes: [(name: String, value: String)] = []
  var children: [NewElement] = []

  init(_ name: String) { self.name = name }

  /// Sets an attribute; nil leaves it out.
  mutating func set(_ attribute: String, _ value: String?) {
    if let value { attributes.append((attribute, value)) }
  }

  /// `YES`, or nothing for what is absent by default.
  mutating func set(_ attribute: String, _ flag: Bool) {
    if flag { set(attribute, "YES") }
  }

  /// The document that has the element as its root, with four spaces a level, as the editor writes.
  var document: String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + text(indent: "")
  }

  private func text(indent: String) -> String {
    var text = "\(indent)<\(name)"
    for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
    if children.isEmpty { return text + "/>\n" }
    text += ">\n"
    for child in children { text += child.text(indent: indent + "    ") }
    return text + "\(indent)</\(name)>\n"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // Readers make spaces of these when they stand as they are.
      case "\n", "\r", "\t": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Whether XML can hold the text at all.
  static func canHold(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x9, 0xa, 0xd: true
      case ..<0x20, 0xfffe, 0xffff: false
      default: true
      }
    }
  }
}

/// Gathers what a document cannot say, while it is written.
final class DocumentLosses {
  private(set) var all: [String] = []
  func add(_ loss: String) { all.append(loss) }
}
