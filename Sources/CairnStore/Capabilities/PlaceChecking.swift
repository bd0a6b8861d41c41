/// A capability of a store that lies where others can remove or exchange it: it notices when its name leads to it no
/// longer.
///
/// A store has the part that is possible where it lies: a file its names, a store at a server the exchange.
public protocol PlaceChecking: AnyObject, Sendable {
  /// Whether another store, or none, lies where this one was opened.
  ///
  /// - Throws: What reading it throws.
  func isExchanged() throws -> Bool
  /// - Throws: 134070 when the file was removed, replaced, moved away or mounted over since the store
  ///   was opened: what is written goes where no name leads.
  func checkFilePlace() throws
  /// How many names (hard links) the file has now; nil while that cannot be read, and without a file.
  ///
  /// SQLite keeps what it has not written yet under the name by which a file was opened: two who open it under
  /// two names destroy it.
  var fileNames: Int? { get }
}

extension PlaceChecking {
  public func isExchanged() throws -> Bool { false }
  public func checkFilePlace() throws {}
  public var fileNames: Int? { nil }
}
