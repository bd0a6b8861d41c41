import CairnModel
import CairnStore
import Foundation

/// A store that wants to know about its coordinator: stores of a program's own, which speak in
/// objects.
package protocol CoordinatorMember: PersistentStore {
  /// The store was added to a coordinator.
  func coordinatorDidAdd(_ coordinator: PersistentStoreCoordinator)
  /// The store is about to be removed from its coordinator.
  func coordinatorWillRemove(_ coordinator: PersistentStoreCoordinator?)
}

/// What a coordinator tells every store.
///
/// Source: `NSPersistentStore`.
///
/// Methods of a protocol, because the class that all stores have in common is below coordinators
/// and knows none; those of subclasses that can be overridden have the same names.
///
/// Not bound to classes, so that its initializer may give back what ``PersistentStore`` makes; stores
/// alone adopt it.
public protocol CoordinatorStore {}

extension PersistentStore: CoordinatorStore {}

extension CoordinatorStore {
  /// A store object for a coordinator, not yet opened nor added.
  ///
  /// Only ``PersistentStoreCoordinator`` opens and adds stores. Classes of a program's own are made
  /// by their designated initialiser of this name.
  public init(
    persistentStoreCoordinator root: PersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    let isDefault = name == ManagedObjectModel.defaultConfigurationName
    let configuration = StoreConfiguration(
      model: root?.managedObjectModel ?? ManagedObjectModel(),
      configurationName: isDefault ? nil : name, url: url, options: StoreOptions(options)
    ).opened(by: root?.reference)
    guard let type = Self.self as? PersistentStore.Type,
      let store = PersistentStore.make(type, configuration: configuration) as? Self
    else { fatalError("\(Self.self) is no class of stores") }
    self = store
  }
}

extension CoordinatorStore {
  /// Called by a coordinator after it has added the store; stores of a program's own override it.
  public func didAdd(to coordinator: PersistentStoreCoordinator) {
    (self as? any CoordinatorMember)?.coordinatorDidAdd(coordinator)
  }

  /// Called by a coordinator before it removes the store; stores of a program's own override it.
  public func willRemove(from coordinator: PersistentStoreCoordinator?) {
    (self as? any CoordinatorMember)?.coordinatorWillRemove(coordinator)
  }
}
