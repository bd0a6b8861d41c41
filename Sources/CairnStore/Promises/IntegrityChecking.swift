/// An optional promise of a store: it can tell whether its file is whole.
public protocol IntegrityChecking: AnyObject, Sendable {
  /// What is damaged, one sentence each; empty when nothing is. Reads the whole file.
  func verifyIntegrity() throws -> [String]
}
