import CairnModel

/// A capability of a store: it tells whether its file is whole, and, where it knows what was saved, which
/// rows another program took away.
public protocol IntegrityChecking: AnyObject, Sendable {
  /// What is damaged, one sentence each; empty when nothing is. Reads the whole file.
  func verifyIntegrity() throws -> [String]
  /// The objects that were saved and whose rows are not stored any more, with no history that tells of it.
  ///
  /// None by default, for stores that do not know.
  func lostRows() throws -> [ManagedObjectID]
  /// The objects whose rows are not stored as they were saved, with no history that tells of it.
  ///
  /// None by default, for stores that do not know.
  func changedRows() throws -> [ManagedObjectID]
  /// The objects whose rows are stored and were never saved, with no history that tells of it.
  ///
  /// None by default, for stores that do not know.
  func unsavedRows() throws -> [ManagedObjectID]
  /// Takes rows and links that are gone for deleted: ``verifyIntegrity()`` names them no more.
  ///
  /// - Parameter objects: Of which rows; nil for all, and for all links.
  func acceptLostRows(of objects: [ManagedObjectID]?) throws
  /// Takes rows as they are stored now for saved: ``changedRows()`` and ``unsavedRows()`` name them no more, and
  /// the store counts their keys as given out.
  ///
  /// Nothing by default, for stores that do not know what was saved.
  func acceptChangedRows(of objects: [ManagedObjectID]) throws
  /// Takes all links as they are stored now for saved.
  ///
  /// Nothing by default, for stores that do not know what was saved.
  func acceptChangedLinks() throws
  /// Makes the rows of objects rows of the objects' entities, where another program made them rows of others.
  ///
  /// Nothing by default, for stores in whose rows no program can change an entity.
  func restoreEntities(of objects: [ManagedObjectID]) throws
}

extension IntegrityChecking {
  public func lostRows() throws -> [ManagedObjectID] { [] }
  public func changedRows() throws -> [ManagedObjectID] { [] }
  public func unsavedRows() throws -> [ManagedObjectID] { [] }
  public func acceptLostRows(of objects: [ManagedObjectID]?) throws {}
  public func acceptChangedRows(of objects: [ManagedObjectID]) throws {}
  public func acceptChangedLinks() throws {}
  public func restoreEntities(of objects: [ManagedObjectID]) throws {}
}
