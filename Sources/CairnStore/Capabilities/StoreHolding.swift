import Foundation

/// A capability of a kind of store: nothing that others commit is lost while the next version
/// of a store file is made beside it.
///
/// A migration with objects reads the store, which takes its time, and replaces it at the end.
package protocol StoreHolding: StoreKind {
  /// Holds other writers off, or notes what the file is like, so that ``StoreHold/replace()`` notices
  /// that somebody has written.
  ///
  /// - Parameter replacement: Where the next version will be; nothing is there yet.
  /// - Throws: ``CoreDataError`` when others use the file for longer than the options wait.
  func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> any StoreHold
}

/// A store file that is about to be replaced.
package protocol StoreHold: AnyObject {
  /// Puts the replacement in the store's place.
  ///
  /// - Throws: 134050 when somebody has written to the store since it was held, and what copying
  ///   throws; the store is as it was then.
  func replace() throws

  /// Lets others write again; the store stays as it is, unless ``replace()`` has succeeded.
  func release()
}
