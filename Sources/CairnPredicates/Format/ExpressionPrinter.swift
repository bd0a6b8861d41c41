import Foundation

// Writing expressions and constants.

extension PredicatePrinter {
  /// The text of an expression.
  package static func text(of node: ExpressionNode) -> String {
    switch node {
    case .constant(let value): return text(of: value)
    case .evaluatedObject: return "SELF"
    case .variable(let name): return "$\(name)"
    case .keyPath(let path):
      return keyPath(path) ?? "FUNCTION(SELF, \"valueForKeyPath:\" , \(quoted(path)))"
    case .keyPathOf(let node, let path):
      guard let steps = steps(path) else {
        return "FUNCTION(\(text(of: node)), \"valueForKeyPath:\" , \(quoted(path)))"
      }
      return "\(primary(node)).\(steps)"
    case .function(let function, let arguments): return call(function, arguments)
    case .element(let node, let index): return "\(primary(node))[\(text(of: index))]"
    case .cast(let node, let type): return "CAST(\(text(of: node)), \(quoted(type)))"
    case .message(let node, let selector, let arguments):
      let head = "FUNCTION(\(text(of: node)), \(quoted(selector.rawValue))"
      return arguments.isEmpty ? head + ")" : head + " , \(list(arguments)))"
    case .setOperation(let operation, let a, let b):
      return "\(operand(a)) \(operation.rawValue) \(operand(b))"
    case .subquery(let node, let name, let predicate):
      return "SUBQUERY(\(text(of: node)), $\(name), \(text(of: predicate)))"
    case .aggregate(let members): return "{\(list(members))}"
    case .anyKey: return "ANYKEY"
    case .block(let block, let arguments):
      let address = address(ObjectIdentifier(block))
      return arguments.isEmpty ? "BLOCK(\(address))" : "BLOCK(\(address), \(list(arguments)))"
    case .conditional(let predicate, let a, let b):
      return "TERNARY(\(text(of: predicate)), \(text(of: a)), \(text(of: b)))"
    case .assignment(let name, let node): return "$\(name) := \(operand(node))"
    case .fetch(let request, let context, let countOnly):
      return "FETCH(\(text(of: request)), \(text(of: context)), \(countOnly ? "YES" : "NO"))"
    }
  }

  private static func list(_ nodes: [ExpressionNode]) -> String {
    nodes.map { text(of: $0) }.joined(separator: ", ")
  }

  private static func call(
    _ function: PredicateFunction, _ arguments: [ExpressionNode]
  ) -> String {
    if let sign = function.infix, arguments.count == 2 {
      // Only division tells whole doubles from integers, so only there they show it.
      let write = function == .divide ? divisionOperand : operand
      return "\(write(arguments[0])) \(sign) \(write(arguments[1]))"
    }
    return "\(function.rawValue)(\(list(arguments)))"
  }

  private static func divisionOperand(_ node: ExpressionNode) -> String {
    if case .constant(.double(let number)) = node, number.isFinite { return "\(number)" }
    return operand(node)
  }

  /// An operand of a sign: in parentheses if it has a sign itself.
  private static func operand(_ node: ExpressionNode) -> String {
    node.hasSign ? "(\(text(of: node)))" : text(of: node)
  }

  /// What stands before a dot or bracket.
  private static func primary(_ node: ExpressionNode) -> String {
    if case .constant(let value) = node, value.kind == .number || value.isNull {
      return "(\(text(of: node)))"
    }
    return operand(node)
  }

  private static func text(of index: ExpressionIndex) -> String {
    switch index {
    case .first: return "FIRST"
    case .last: return "LAST"
    case .size: return "SIZE"
    case .at(let node): return text(of: node)
    }
  }

  // MARK: Names

  /// A key path that starts at the object; nil if it cannot be written as one.
  private static func keyPath(_ path: String) -> String? { steps(path) }

  /// The steps of a path, reserved words with `#`; nil if one is not a name.
  private static func steps(_ path: String) -> String? {
    let steps = path.split(separator: ".", omittingEmptySubsequences: false)
    var written: [String] = []
    for step in steps {
      if step.first == "@", FormatWord.isIdentifier(step.dropFirst()) {
        written.append(String(step))
      } else if FormatWord.isIdentifier(step) {
        written.append(FormatWord(reserved: String(step)) == nil ? String(step) : "#\(step)")
      } else {
        return nil
      }
    }
    return written.joined(separator: ".")
  }

  // MARK: Constants

  private static func text(of value: PredicateValue) -> String {
    switch value {
    case .null: return "nil"
    case .boolean, .integer: return NumberText.plain(value)
    case .double(let number):
      return number.isFinite ? NumberText.plain(value) : "CAST(\"\(number)\", \"NSNumber\")"
    case .decimal(let number):
      let text = NumberText.plain(value)
      let isWhole = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 45 }
      if isWhole, text.utf8.count <= 38 { return text }
      return "CAST(\"\(number)\", \"NSDecimalNumber\")"
    case .string(let text): return quoted(text)
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      let text = seconds.isFinite ? NumberText.seconds(seconds) : "\"\(seconds)\""
      return "CAST(\(text), \"NSDate\")"
    case .data(let data): return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
    case .uuid(let uuid): return "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
    case .url(let url): return "CAST(\(quoted(url.absoluteString)), \"NSURL\")"
    case .objectID(let id): return "\(id)"
    case .object(let reference):
      return reference.object is NSNull ? "<null>" : "\(reference.object)"
    case .array(let members): return "{\(members.map { text(of: $0) }.joined(separator: ", "))}"
    case .set(let members):
      let texts = ValueSorting.sorted(members).map { text(of: $0) }
      return "{\(texts.joined(separator: ", "))}"
    case .dictionary(let members):
      let texts = members.map { "\(text(of: $0.key)) = \(text(of: $0.value));" }.sorted()
      return "{\(texts.joined(separator: " "))}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          result += String(format: "\\u%04x", scalar.value)
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}

extension ExpressionNode {
  /// Whether the expression is written with a sign between two values.
  fileprivate var hasSign: Bool {
    switch self {
    case .function(let function, let arguments):
      return function.infix != nil && arguments.count == 2
    case .setOperation, .assignment: return true
    case .constant, .evaluatedObject, .variable, .keyPath, .keyPathOf, .element, .cast, .message,
      .subquery, .aggregate, .anyKey, .block, .conditional, .fetch:
      return false
    }
  }
}
