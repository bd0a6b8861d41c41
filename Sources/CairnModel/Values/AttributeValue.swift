import Foundation

/// One stored value of a managed object: an attribute, or the object ID of a to-one relationship.
///
/// This is the form in which values cross between contexts and stores. It is 17 bytes, which rows
/// hold without gaps. Composite attributes appear as one value per leaf element; transformable
/// attributes as the `data` their transformer made.
public enum AttributeValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  /// Integer 16, 32 and 64.
  case integer(Int64)
  case float(Float)
  case double(Double)
  /// Boxed, because a `Decimal` is larger than every other payload.
  indirect case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  /// The destination of a to-one relationship.
  case object(ManagedObjectID)

  /// Whether there is no value.
  @inlinable public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// Whether it is no number, or the date of none.
  package var isNaN: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .null, .boolean, .integer, .string, .data, .uuid, .url, .object: false
    }
  }

  /// The date so many seconds after 2001; null where that is no number, which every store keeps as nothing.
  package static func date(after seconds: Double) -> AttributeValue {
    seconds.isNaN ? .null : .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  /// Whether storing one in place of the other changes nothing.
  ///
  /// Unlike `==`, a NaN is the same as itself, so that an object holding one can become clean;
  /// strings are compared by their bytes, because two canonically equal spellings are two values
  /// to a store.
  public func isSameStoredValue(as other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)): return a.bitPattern == b.bitPattern
    case (.float(let a), .float(let b)): return a.bitPattern == b.bitPattern
    case (.date(let a), .date(let b)):
      return a.timeIntervalSinceReferenceDate.bitPattern
        == b.timeIntervalSinceReferenceDate.bitPattern
    case (.decimal(let a), .decimal(let b)): return a == b || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): return Self.haveSameBytes(a, b)
    default: return self == other
    }
  }

  private static func haveSameBytes(_ a: String, _ b: String) -> Bool {
    // Both are known without going over the text.
    if a.utf8.count != b.utf8.count { return false }
    let isSame = a.utf8.withContiguousStorageIfAvailable { a in
      b.utf8.withContiguousStorageIfAvailable { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return memcmp(first, second, a.count) == 0
      }
    }
    return isSame.flatMap(\.self) ?? a.utf8.elementsEqual(b.utf8)
  }
}
