import CairnModel
import Foundation
import GRDBSQLite

// Values as section 3.4 of the format stores them.

extension SQLiteStatement {
  /// Binds a value; object IDs by their key, data as it is (see ``ExternalDataFiles`` for the tag).
  func bind(_ value: AttributeValue, at index: Int32) {
    switch value {
    case .null: bindNull(at: index)
    case .boolean(let flag): bind(flag ? 1 : 0 as Int64, at: index)
    case .integer(let number): bind(number, at: index)
    case .float(let number): bind(Double(number), at: index)
    case .double(let number): bind(number, at: index)
    case .decimal(let decimal):
      if decimal.isNaN {
        bindNull(at: index)
        return
      }
      let stored = StoredForm.number(decimal)
      if let integer = stored.integer {
        bind(integer, at: index)
      } else {
        bind(stored.double, at: index)
      }
    case .string(let text): bind(text, at: index)
    case .date(let date): bind(date.timeIntervalSinceReferenceDate, at: index)
    case .data(let data): bind(data, at: index)
    case .uuid(let uuid):
      withUnsafeBytes(of: uuid.uuid) { bind(Data($0), at: index) }
    case .url(let url): bind(url.absoluteString, at: index)
    case .object(let objectID):
      if let key = objectID.rowKey {
        bind(key, at: index)
      } else {
        bindNull(at: index)
      }
    }
  }
}
