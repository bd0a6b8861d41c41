import CairnModel

// Lists of constants as SQLite takes them.

extension SQLiteDialect {
  package func list(_ term: SQLTerm, _ values: [SQLTerm]) throws -> SQLFragment {
    let bindings = values.flatMap(\.fragment.bindings)
    if bindings.count > 4, let json = Self.json(bindings, for: term.kind) {
      return term.fragment
        + SQLFragment(" IN (SELECT value FROM json_each(?))", [.string(json)])
    }
    guard bindings.count <= SQLQueryPlan.maximumParameters else { throw SQLUnsupported() }
    if term.kind == .double || term.kind == .date, !bindings.allSatisfy(Self.isExactDouble) {
      throw SQLUnsupported()
    }
    // Padded to a power of two, so that lists of any length share a few statements.
    var padded = bindings
    if let last = bindings.last {
      var size = 1
      while size < bindings.count { size *= 2 }
      padded += [AttributeValue](repeating: last, count: size - bindings.count)
    }
    let marks = [String](repeating: "?", count: padded.count).joined(separator: ", ")
    return term.fragment + SQLFragment(" IN (\(marks))", padded)
  }

  /// A column of doubles makes doubles of the integers in a list.
  private static func isExactDouble(_ value: AttributeValue) -> Bool {
    guard case .integer(let number) = value else { return true }
    return Int64(exactly: Double(number)) == number
  }

  /// Integers or texts as one parameter, however many; nil for lists that JSON cannot hold exactly.
  private static func json(_ values: [AttributeValue], for kind: SQLKind) -> String? {
    var parts: [String] = []
    parts.reserveCapacity(values.count)
    for value in values {
      switch (value, kind) {
      case (.integer(let number), .integer), (.integer(let number), .boolean),
        (.integer(let number), .object):
        parts.append("\(number)")
      case (.boolean(let flag), .integer), (.boolean(let flag), .boolean):
        parts.append(flag ? "1" : "0")
      case (.string(let text), .string):
        guard let quoted = json(text) else { return nil }
        parts.append(quoted)
      default: return nil
      }
    }
    return "[" + parts.joined(separator: ",") + "]"
  }

  /// A text in JSON; nil when it has a NUL, where SQLite would end it.
  private static func json(_ text: String) -> String? {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": return nil
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{1}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
