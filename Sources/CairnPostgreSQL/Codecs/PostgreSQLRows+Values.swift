import CairnModel
import Foundation

// Values of a result, read from the binary form.

extension PostgreSQLRows {
  /// A number of any integer type; nil for NULL.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = bytes(row, column) else { return nil }
    switch bytes.count {
    case 2: return Int64(bytes.number(as: Int16.self))
    case 4: return Int64(bytes.number(as: Int32.self))
    case 8: return bytes.number(as: Int64.self)
    default: return nil
    }
  }

  package func flag(_ row: Int, _ column: Int) -> Bool? {
    bytes(row, column).map { $0.first.map { $0 != 0 } ?? false }
  }

  /// A `double precision`; nil for NULL.
  package func double(_ row: Int, _ column: Int) -> Double? {
    guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
    return Double(bitPattern: bytes.number(as: UInt64.self))
  }

  package func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { StoredText.text($0) }
  }

  package func data(_ row: Int, _ column: Int) -> Data? {
    bytes(row, column).map { Data($0) }
  }
}

extension UnsafeRawBufferPointer {
  /// The number in the first bytes; traps when there are fewer.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(as type: Number.Type) -> Number {
    Number(bigEndian: number(at: 0, as: type))
  }
}
