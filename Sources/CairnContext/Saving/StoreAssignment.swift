import CairnModel
import CairnStore

/// `assign(_:to:)`: the store that a new object will be saved to.
struct StoreAssignment {
  let context: ManagedObjectContext

  func assign(_ object: Any, to store: PersistentStore) {
    context.confinement.check()
    guard let object = object as? ManagedObject, object.registry === context.registry else {
      // Core Data raises; both come from the program's source.
      fatalError("Only an object of the context can be assigned to a store, not \(object).")
    }
    if let saved = object.objectID.persistentStore {
      if saved === store { return }
      // The program names the object and the store; data has no part in it.
      fatalError(
        "The object \(object.objectID) cannot be assigned to \(store.url?.path ?? store.type): an "
          + "object that has been saved stays in its store.")
    }
    guard store.holds(object.entity) else {
      // The program names the object and the store; Core Data raises here.
      fatalError(
        "Can't assign an object to a store that does not contain the object's entity: "
          + "\(object.entity.name ?? "?") is not in the configuration \(store.configurationName) of "
          + "\(store.url?.path ?? store.type).")
    }
    context.nextSave.assignments[ObjectRef(object)] = store
  }
}
