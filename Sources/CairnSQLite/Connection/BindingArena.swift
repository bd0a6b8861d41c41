import Foundation
import GRDBSQLite

/// Memory for the texts and blobs of one row at a time, which statements refer to instead of
/// copying them.
///
/// Bound as "transient", each text costs an allocation inside SQLite. Bound from here it is copied
/// once, into memory that is used again for the next row. Whoever binds from an arena calls
/// ``startRow()`` before each row, binds every parameter anew, and clears the bindings of the
/// statement before the arena goes.
final class BindingArena {
  private let memory: UnsafeMutableRawPointer
  private let capacity: Int
  private var used = 0

  init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// What was bound for the row before is no longer needed.
  @inline(__always)
  func startRow() { used = 0 }

  /// A copy of the bytes; nil when there is no room for them.
  @inline(__always)
  private func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
    guard bytes.count <= capacity - used else { return nil }
    let place = memory + used
    if let base = bytes.baseAddress { place.copyMemory(from: base, byteCount: bytes.count) }
    used += bytes.count
    return place
  }

  func bind(_ text: String, at index: Int32, of statement: SQLiteStatement) {
    var text = text
    let isBound = text.withUTF8 { bytes -> Bool in
      guard let place = copy(UnsafeRawBufferPointer(bytes)) else { return false }
      sqlite3_bind_text64(
        statement.handle, index, place.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
        nil, UInt8(SQLITE_UTF8))
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
