import Foundation
import GRDBSQLite

// Texts and blobs of a row, bound where they lie in the arena, or copied by SQLite where there is no
// room.
extension BindingArena {
  func bind(_ text: String, at index: Int32, of statement: SQLiteStatement) {
    var text = text
    let isBound = text.withUTF8 { bytes -> Bool in
      guard let place = copy(characters: bytes) else { return false }
      sqlite3_bind_text64(
        statement.handle, index, place, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
      return true
    }
    if !isBound { statement.bind(text, at: index) }
  }

  func bind(_ data: Data, at index: Int32, of statement: SQLiteStatement) {
    let isBound = data.withUnsafeBytes { bytes -> Bool in
      guard !bytes.isEmpty, let place = copy(bytes) else { return false }
      sqlite3_bind_blob64(statement.handle, index, place, UInt64(bytes.count), nil)
      return true
    }
    if !isBound { statement.bind(data, at: index) }
  }
}
