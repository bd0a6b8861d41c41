import Foundation

/// A property's value as all stores know it: like `AttributeValue`, with references by record ID.
public enum WireValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case float(Float)
  case double(Double)
  indirect case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case reference(RecordID)

  public var reference: RecordID? {
    if case .reference(let id) = self { return id }
    return nil
  }

  /// Whether both are stored as the same bytes: NaN equals itself, strings compare by bytes.
  public func isSame(as other: WireValue) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.boolean(let a), .boolean(let b)): return a == b
    case (.integer(let a), .integer(let b)): return a == b
    case (.double(let a), .double(let b)): return a.bitPattern == b.bitPattern
    case (.float(let a), .float(let b)): return a.bitPattern == b.bitPattern
    case (.date(let a), .date(let b)):
      return a.timeIntervalSinceReferenceDate.bitPattern
        == b.timeIntervalSinceReferenceDate.bitPattern
    case (.string(let a), .string(let b)): return a.utf8.elementsEqual(b.utf8)
    case (.data(let a), .data(let b)): return a == b
    case (.uuid(let a), .uuid(let b)): return a == b
    case (.reference(let a), .reference(let b)): return a == b
    case (.decimal, .decimal), (.url, .url): return canonicalBytes == other.canonicalBytes
    default: return false
    }
  }
}
