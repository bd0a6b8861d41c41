import Foundation

/// What a context posts: the names of its notifications and the keys of their user info.
extension ManagedObjectContext {
  /// Posted before a save.
  public static let willSaveObjectsNotification = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// Posted after a save, with the objects.
  public static let didSaveObjectsNotification = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// Posted at the end of an event, with the objects that changed in it.
  public static let didChangeObjectsNotification = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// Posted after a save, with object IDs.
  public static let didSaveObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted after a merge, with object IDs.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// Keys of the notifications' user info.
  public enum NotificationKey: String, Sendable {
    case queryGeneration = "newQueryGeneration"
    case invalidatedAllObjects = "invalidatedAll"
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

extension Notification.Name {
  public static let NSManagedObjectContextWillSave = ManagedObjectContext
    .willSaveObjectsNotification
  public static let NSManagedObjectContextDidSave = ManagedObjectContext.didSaveObjectsNotification
  public static let NSManagedObjectContextObjectsDidChange = ManagedObjectContext
    .didChangeObjectsNotification
  public static let NSManagedObjectContextDidSaveObjectIDs = ManagedObjectContext
    .didSaveObjectIDsNotification
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = ManagedObjectContext
    .didMergeChangesObjectIDsNotification
}

/// The user info key of a did-save notification under which the place in history stands.
public let NSPersistentHistoryChangeTokenKey = "newChangeToken"
