/// An optional promise of a store in a file: it notices when the file's name leads to it no longer.
public protocol FilePlaceChecking: AnyObject, Sendable {
  /// - Throws: 134070 when the file was removed, replaced, moved away or mounted over since the store
  ///   was opened: what is written goes where no name leads.
  func checkFilePlace() throws
  /// How many names (hard links) the file has now; nil while that cannot be read.
  ///
  /// SQLite keeps what it has not written yet under the name by which a file was opened: two who open it under
  /// two names destroy it.
  var fileNames: Int? { get }
}
