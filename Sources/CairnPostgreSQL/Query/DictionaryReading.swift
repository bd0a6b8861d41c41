import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation

/// Reads the results of a dictionary fetch.
struct DictionaryReading {
  let content: StoreContent
  let plan: SQLDictionaryPlan

  func dictionary(_ rows: PostgreSQLRows, _ row: Int) throws -> [String: AttributeValue] {
    var result: [String: AttributeValue] = [:]
    for column in plan.columns {
      let value = try value(of: column, rows, row)
      if !value.isNull { result[column.key] = value }
    }
    return result
  }

  private func value(
    of column: SQLDictionaryPlan.Column, _ rows: PostgreSQLRows, _ row: Int
  ) throws -> AttributeValue {
    let index = Int(column.index)
    if column.isObject {
      guard let key = rows.integer(row, index),
        let number = rows.integer(row, Int(column.entityIndex))
      else { return .null }
      return content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
        .map { .object($0) } ?? .null
    }
    guard let stored = try stored(column.kind, rows, row, index) else { return .null }
    if column.type.isInteger, case .double(let number) = stored {
      try DictionaryRows.checkFit(number, column: column.key)
    }
    return DictionaryRows.attributeValue(of: stored, type: column.type)
  }

  /// The value of an expression; nil for NULL.
  private func stored(
    _ kind: SQLKind, _ rows: PostgreSQLRows, _ row: Int, _ column: Int
  ) throws -> PredicateValue? {
    guard rows.bytes(row, column) != nil else { return nil }
    let form: ValueForm
    switch kind {
    case .integer, .entity, .object: form = .integer
    case .boolean: form = .boolean
    case .double: form = .double
    case .decimal: form = .numeric
    case .string: form = .text
    case .uuid: form = .uuid
    case .url: form = .url
    case .data, .opaqueData: form = .bytes
    // Computed as seconds since 2001.
    case .date:
      guard case .double(let seconds) = try ValueForm.double.value(rows, row, column) else {
        return nil
      }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .null: return nil
    }
    return PredicateValue(AttributeCoding.decode(try form.value(rows, row, column)))
  }
}
