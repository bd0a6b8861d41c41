import CairnModel
import CairnSQL
import Foundation

// Lists of constants: one parameter each, so that a list of any length is the same statement.

extension PostgreSQLDialect {
  func list(_ term: SQLTerm, _ values: [SQLTerm]) throws -> SQLFragment {
    let constants = values.compactMap(\.parameter)
    guard constants.count == values.count else { throw SQLUnsupported() }
    if term.kind.isNumber { return try numbers(term, constants) }
    let type: PostgreSQLType
    switch term.kind {
    case .string, .url: type = .text
    case .uuid: type = .uuid
    case .data: type = .bytea
    case .object, .entity: type = .bigint
    case .integer, .boolean, .double, .decimal, .date, .opaqueData, .null: throw SQLUnsupported()
    }
    let list = Self.anyOf(try constants.map(Self.element), type)
    return term.folding.isEmpty ? term.fragment + list : foldedList(term, list)
  }

  /// Numbers that a column of the type cannot have are in no row.
  private func numbers(_ term: SQLTerm, _ constants: [AttributeValue]) throws -> SQLFragment {
    let numbers = constants.compactMap(NumberConstant.init)
    guard numbers.count == constants.count else { throw SQLUnsupported() }
    let elements: [String]
    let (column, type): (SQLFragment, PostgreSQLType)
    switch try Self.numberClass(term.kind) {
    case .integer:
      elements = numbers.compactMap { number in
        if case .exact(let integer) = number.amongIntegers { return "\(integer)" }
        return nil
      }
      (column, type) = (integer(term), .bigint)
    case .double:
      elements = numbers.compactMap { number in
        if case .exact(let double) = number.amongDoubles { return Self.text(of: double) }
        return nil
      }
      (column, type) = (term.fragment, .double)
    case .decimal:
      elements = try numbers.map { number in
        switch number {
        case .integer(let integer): return "\(integer)"
        case .decimal(let decimal): return "\(decimal)"
        // Memory compares them as doubles.
        case .double: throw SQLUnsupported()
        }
      }
      (column, type) = (term.fragment, .numeric)
    }
    return elements.isEmpty ? literal(false) : column + Self.anyOf(elements, type)
  }

  // MARK: Texts of arrays

  /// An array of these elements as a text, which the server reads.
  private static func anyOf(_ elements: [String], _ type: PostgreSQLType) -> SQLFragment {
    " = ANY (" + .parameter(.string("{" + elements.joined(separator: ",") + "}"))
      + "::\(type.name)[])"
  }

  private static func element(_ value: AttributeValue) throws -> String {
    switch value {
    case .integer(let number): return "\(number)"
    case .string(let text): return quoted(text)
    case .uuid(let uuid): return uuid.uuidString
    case .data(let data):
      return quoted("\\x" + data.map { String(format: "%02x", $0) }.joined())
    case .null, .boolean, .float, .double, .decimal, .date, .url, .object: throw SQLUnsupported()
    }
  }

  /// In quotes, where only quotes and backslashes mean anything.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  private static func text(of number: Double) -> String {
    number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
  }
}
