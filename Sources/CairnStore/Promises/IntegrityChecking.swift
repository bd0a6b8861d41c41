import CairnModel

/// An optional promise of a store: it can tell whether its file is whole.
public protocol IntegrityChecking: AnyObject, Sendable {
  /// What is damaged, one sentence each; empty when nothing is. Reads the whole file.
  func verifyIntegrity() throws -> [String]
}

/// An optional promise of a store: it knows what was saved, and can be told that rows which another program took
/// away are meant to be gone.
public protocol LostRowAccepting: AnyObject, Sendable {
  /// The objects that were saved and whose rows are not stored any more, with no history that tells of it.
  func lostRows() throws -> [ManagedObjectID]
  /// Takes rows and links that are gone for deleted: ``IntegrityChecking/verifyIntegrity()`` names them no more.
  ///
  /// - Parameter objects: Of which rows; nil for all, and for all links.
  func acceptLostRows(of objects: [ManagedObjectID]?) throws
}
