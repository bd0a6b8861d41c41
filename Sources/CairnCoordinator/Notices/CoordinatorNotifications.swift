import CairnStore
import Foundation

/// The notifications a coordinator posts, with Apple's names.
extension Notification.Name {
  /// Declared by Core Data for iCloud only; never posted.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Stores were added or removed.
  ///
  /// Object: the coordinator. User info: ``PersistentStoreKey``.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A store is about to be removed.
  ///
  /// Object: the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  /// A program, this one included, wrote to a store with the remote-change option.
  ///
  /// Object: the coordinator. Posted on a background queue; several commits may be announced by one
  /// notification.
  public static let NSPersistentStoreRemoteChange = Notification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

/// Keys in the user info of a coordinator's notifications, with Apple's raw values.
public enum PersistentStoreKey {
  /// `[PersistentStore]`.
  public static let added = "added"
  /// `[PersistentStore]`.
  public static let removed = "removed"
  /// `[Any]`: the old store, the new store, and `[ManagedObjectID]` with old and new IDs in turn,
  /// after a store was migrated to another place.
  public static let uuidChanged = "NSUUIDChangedPersistentStoresKey"
  /// The store's UUID string, in remote change notifications.
  public static let storeUUID = "NSStoreUUID"
  /// The store's URL, in remote change notifications.
  public static let storeURL = "storeURL"
  /// A ``PersistentHistoryToken``, in remote change notifications of stores with history.
  public static let historyToken = "historyToken"
}
