import CairnModel

extension PersistentStoreCoordinator {
  /// A coordinator that knows the same kinds of store, for another version of the model.
  package func sibling(for model: ManagedObjectModel) -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: builtInKinds, migrator: migrator)
  }
}
