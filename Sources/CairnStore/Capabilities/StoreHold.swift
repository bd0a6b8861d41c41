/// A store file that is about to be replaced: nothing that others commit is lost while its next version is made
/// beside it.
///
/// A migration with objects reads the store, which takes its time, and replaces it at the end. Used by one thread
/// after the other.
public protocol StoreHold: AnyObject {
  /// Puts the replacement in the store's place.
  ///
  /// - Throws: 134050 when another writer has changed the store since it was held, and what copying
  ///   throws; the store is as it was then.
  func replace() throws

  /// Lets others write again; the store stays as it is, unless ``replace()`` has succeeded.
  func release()
}
