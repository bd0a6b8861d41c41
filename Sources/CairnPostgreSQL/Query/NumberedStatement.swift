import CairnModel
import CairnSQL
import Foundation

/// A fragment as the server takes it: with numbers for its question marks, and values in the server's form.
struct NumberedStatement {
  let text: String
  let parameters: ParameterList
  /// The values by their numbers.
  let values: [AttributeValue]

  /// - Parameter sharesParameters: Whether equal values get one number. The server tells by their text which
  ///   expressions are one and the same, as those of GROUP BY must be; but a text that depends on the values is seldom
  ///   prepared already.
  init(_ fragment: SQLFragment, sharesParameters: Bool = false) throws {
    var numbers: [Int] = []
    var values: [AttributeValue] = []
    for value in fragment.bindings {
      if sharesParameters, let known = values.firstIndex(where: { $0.isSameStoredValue(as: value) })
      {
        numbers.append(known + 1)
      } else {
        values.append(value)
        numbers.append(values.count)
      }
    }
    text = Self.numbered(fragment.sql, numbers)
    self.values = values
    var parameters = ParameterList()
    for value in values { try parameters.append(value) }
    self.parameters = parameters
  }

  /// Replaces the question marks that stand outside of names and texts.
  private static func numbered(_ sql: String, _ numbers: [Int]) -> String {
    if numbers.isEmpty { return sql }
    var result: [UInt8] = []
    result.reserveCapacity(sql.utf8.count + numbers.count * 2)
    var quote: UInt8?
    var next = 0
    for byte in sql.utf8 {
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "?"), next < numbers.count {
        result += "$\(numbers[next])".utf8
        next += 1
        continue
      }
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension ParameterList {
  /// Adds a constant of a predicate; dates are times here, and seconds are doubles.
  fileprivate mutating func append(_ value: AttributeValue) throws {
    switch value {
    case .boolean(let flag): append(flag)
    case .integer(let number): append(number)
    case .double(let number): append(double: number)
    case .float(let number): append(double: Double(number))
    case .string(let text): append(text)
    case .data(let data): append(data: data)
    case .decimal: try ValueForm.numeric.append(value, to: &self)
    case .uuid: try ValueForm.uuid.append(value, to: &self)
    case .date(let date):
      // A constant is a number.
      guard let stored = StoredDate(date) else { return appendNull(.timestamp) }
      begin(.timestamp)
      writer.append(stored.microseconds)
      end()
    case .url(let url): append(url.absoluteString)
    case .null: appendNull(.text)
    case .object(let id): append(id.rowKey)
    }
  }
}
