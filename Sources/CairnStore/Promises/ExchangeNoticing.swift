/// An optional promise of a store that lies where others can exchange it: it tells whether it is still there.
public protocol ExchangeNoticing: AnyObject, Sendable {
  /// Whether another store, or none, lies where this one was opened.
  ///
  /// - Throws: What reading it throws.
  func isExchanged() throws -> Bool
}
