import CairnModel

/// An optional promise of a store whose file can hold values that are none of their attributes' types, put there
/// by programs that do not know the model.
///
/// Reading makes something of them, as Core Data does: a text in the column of a number is 0. Sync, which hands
/// values on to other stores, asks here, so that it sends none that no program wrote.
public protocol StrayValueTelling: AnyObject, Sendable {
  /// By object, the slots of its row that hold such a value.
  ///
  /// - Parameter objectIDs: Whose rows to look at; nil for all there are.
  func strayValues(in objectIDs: [ManagedObjectID]?) throws -> [ManagedObjectID: Set<Int>]
}
