import Foundation

/// The decimal numbers that programs get: `NSDecimalNumber`s that can be hashed and archived.
///
/// Foundation's own on Linux never comes back from `hash`, so that a set, a dictionary's key or an archive of
/// one ends the process, and it does not read what Apple's archives hold.
package final class DecimalNumber: NSDecimalNumber, @unchecked Sendable {
  // Unchecked: there is no state beside the superclass's, which does not change.

  package override init(decimal: Decimal) { super.init(decimal: decimal) }

  /// Equal numbers hash alike, so what `NSNumber` can hold hashes as one.
  package override var hash: Int {
    let whole = NSDecimalNumber(decimal: decimalValue).int64Value
    return Decimal(whole) == decimalValue
      ? NSNumber(value: whole).hash : NSNumber(value: doubleValue).hash
  }

  /// The nearest double; the superclass's is often a neighbour of it.
  package override var doubleValue: Double { decimalValue.nearestDouble }

  // MARK: Archives

  package override var classForCoder: AnyClass { NSDecimalNumber.self }

  package required init?(coder: NSCoder) {
    let mantissa = coder.withDecodedUnsafeBytes(forKey: "NS.mantissa") { bytes in
      bytes.map { Data($0) }
    }
    let archived = ArchivedDecimal(
      mantissa: mantissa ?? Data(), exponent: coder.decodeInteger(forKey: "NS.exponent"),
      length: coder.decodeInteger(forKey: "NS.length"),
      isNegative: coder.decodeBool(forKey: "NS.negative"),
      byteOrder: coder.decodeInteger(forKey: "NS.mantissa.bo"))
    guard let decimal = archived.decimal else { return nil }
    super.init(decimal: decimal)
  }

  package override func encode(with coder: NSCoder) {
    let archived = ArchivedDecimal(decimalValue)
    coder.encode(archived.exponent, forKey: "NS.exponent")
    coder.encode(archived.length, forKey: "NS.length")
    coder.encode(archived.isNegative, forKey: "NS.negative")
    coder.encode(true, forKey: "NS.compact")
    coder.encode(archived.byteOrder, forKey: "NS.mantissa.bo")
    archived.mantissa.withUnsafeBytes {
      let bytes = $0.bindMemory(to: UInt8.self)
      coder.encodeBytes(bytes.baseAddress, length: bytes.count, forKey: "NS.mantissa")
    }
  }

  // MARK: What the superclass requires

  package required convenience init(integerLiteral value: Int) {
    self.init(decimal: Decimal(value))
  }

  package required convenience init(floatLiteral value: Double) {
    self.init(decimal: Decimal(value))
  }

  package required convenience init(booleanLiteral value: Bool) {
    self.init(decimal: value ? 1 : 0)
  }

  /// The type that decimal numbers give is a double's.
  package required convenience init(
    bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>
  ) {
    self.init(decimal: Decimal(buffer.loadUnaligned(as: Double.self)))
  }
}
