/// A capability of a store: for a while only one caller commits to it.
///
/// For work that other writers would make fail again and again, such as reading rows together with
/// the stamps that belong to them while programs change them without pause.
public protocol WriteHolding: AnyObject, Sendable {
  /// Runs work while the store keeps other connections, of this and of other processes, from committing.
  ///
  /// Others read as usual, and wait with their writes; so the work has to be short. It reads the store
  /// as always and may write to it, on its own thread: after each of its commits others may get in
  /// for a moment. A store that cannot hold others up runs the work all the same.
  ///
  /// - Throws: What the work throws, and the error for a store that stays locked by another connection.
  func holdingWrites<Result>(_ work: () throws -> Result) throws -> Result
}
