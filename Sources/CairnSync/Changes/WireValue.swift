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
  public func isSame(as other: WireValue) -> Bool { canonicalBytes == other.canonicalBytes }
}
