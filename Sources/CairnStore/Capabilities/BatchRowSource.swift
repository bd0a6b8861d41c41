import CairnModel

/// The rows of a batch insert, handed over portion by portion, so that a large import is never in
/// memory as a whole.
// Unchecked: a request is executed by one call at a time, and that call takes all portions before it
// returns; nothing here runs before or after.
public final class BatchRowSource: ExpressibleByArrayLiteral, @unchecked Sendable {
  public typealias Row = [String: AttributeValue]

  private let produce: () throws -> [Row]?
  /// Portions that were taken already, to be handed out first.
  private var first: [Row]?

  /// - Parameter produce: The next rows by property name; nil when there are no more.
  public init(_ produce: @escaping () throws -> [Row]?) {
    self.produce = produce
  }

  /// All rows at once.
  public init(_ rows: [Row]) {
    produce = { nil }
    first = rows
  }

  public convenience init(arrayLiteral rows: Row...) {
    self.init(rows)
  }

  /// Takes the first portion ahead of time; false when there are no rows at all.
  public func prepare() throws -> Bool {
    if first == nil { first = try produce() }
    return first?.isEmpty == false
  }

  /// The next rows; nil when there are no more.
  public func next() throws -> [Row]? {
    if let rows = first {
      first = nil
      return rows
    }
    return try produce()
  }
}
