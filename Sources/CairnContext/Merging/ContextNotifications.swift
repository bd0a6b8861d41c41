import CairnCoordinator
import CairnModel
import Foundation

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

/// Posts the notifications of a context, on its queue.
struct ContextNotifications {
  typealias Key = ManagedObjectContext.NotificationKey
  let context: ManagedObjectContext

  func postWillSave() { post(ManagedObjectContext.willSaveObjectsNotification, nil) }

  func postDidChange(_ changes: ObjectChangeSets) {
    if changes.isEmpty { return }
    var info: [AnyHashable: Any] = [:]
    put(set(of: changes.inserted, \.inserted), .insertedObjects, &info)
    put(set(of: changes.updated, \.updated), .updatedObjects, &info)
    put(set(of: changes.deleted, \.deleted), .deletedObjects, &info)
    put(Set(distinct: changes.refreshed), .refreshedObjects, &info)
    post(ManagedObjectContext.didChangeObjectsNotification, info)
  }

  func postInvalidatedAll(_ ids: [ManagedObjectID]) {
    post(
      ManagedObjectContext.didChangeObjectsNotification,
      [Key.invalidatedAllObjects.rawValue: Set(distinct: ids)])
  }

  /// - Parameters:
  ///   - token: The place in history right after the save.
  ///   - generation: The state that a pinned context has gone on to.
  func postDidSave(
    _ changes: ObjectChangeSets, token: Any?, generation: QueryGenerationToken? = nil
  ) {
    var info: [AnyHashable: Any] = [:]
    put(set(of: changes.inserted, \.inserted), .insertedObjects, &info)
    put(set(of: changes.updated, \.updated), .updatedObjects, &info)
    put(set(of: changes.deleted, \.deleted), .deletedObjects, &info)
    if let token { info[NSPersistentHistoryChangeTokenKey] = token }
    if let generation { info[Key.queryGeneration.rawValue] = generation }
    post(ManagedObjectContext.didSaveObjectsNotification, info)
    var ids: [AnyHashable: Any] = [:]
    put(Self.ids(of: changes.inserted), .insertedObjectIDs, &ids)
    put(Self.ids(of: changes.updated), .updatedObjectIDs, &ids)
    put(Self.ids(of: changes.deleted), .deletedObjectIDs, &ids)
    if let token { ids[NSPersistentHistoryChangeTokenKey] = token }
    if let generation { ids[Key.queryGeneration.rawValue] = generation }
    post(ManagedObjectContext.didSaveObjectIDsNotification, ids)
    guard let parent = context.parent else { return }
    // The parent's other children may want to follow.
    ids[AutomaticMerging.childKey] = context
    NotificationCenter.default.post(
      name: AutomaticMerging.childDidSave, object: parent, userInfo: ids)
  }

  /// - Parameter refreshed: Those of the updated objects that had values here and have newer ones now.
  func postDidMerge(_ changes: MergedChanges, refreshed: [ManagedObjectID]) {
    let info: [AnyHashable: Any] = [
      Key.insertedObjectIDs.rawValue: Set(changes.inserted),
      Key.updatedObjectIDs.rawValue: Set(changes.updated),
      Key.deletedObjectIDs.rawValue: Set(changes.deleted),
      Key.refreshedObjectIDs.rawValue: Set(refreshed),
      Key.invalidatedObjectIDs.rawValue: Set<ManagedObjectID>(),
    ]
    post(ManagedObjectContext.didMergeChangesObjectIDsNotification, info)
  }

  /// The objects as a set; during a save the one made for the notification before, if it had the
  /// same objects.
  private func set(
    of objects: [ManagedObject], _ place: WritableKeyPath<AnnouncedSets, AnnouncedSets.Entry?>
  ) -> Set<ManagedObject> {
    if objects.isEmpty { return [] }
    if let known = context.announcedSets?[keyPath: place], known.objects.count == objects.count,
      zip(known.objects, objects).allSatisfy({ $0 === $1 })
    {
      return known.set
    }
    var set = Set<ManagedObject>(minimumCapacity: objects.count * 2)
    MemoryAhead.each(of: objects) { set.update(with: $0) }
    context.announcedSets?[keyPath: place] = AnnouncedSets.Entry(objects: objects, set: set)
    return set
  }

  private static func ids(of objects: [ManagedObject]) -> Set<ManagedObjectID> {
    var ids = Set<ManagedObjectID>(minimumCapacity: objects.count * 2)
    MemoryAhead.each(of: objects, { $0.fetchIDAhead() }) { ids.update(with: $0.objectID) }
    return ids
  }

  private func put<Element>(
    _ set: Set<Element>, _ key: Key, _ info: inout [AnyHashable: Any]
  ) {
    if !set.isEmpty { info[key.rawValue] = set }
  }

  private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]?) {
    NotificationCenter.default.post(name: name, object: context, userInfo: info)
  }
}

extension Set {
  /// The set of elements that are known to be different ones.
  ///
  /// A table twice as large as they need: each element that meets another one in its place is
  /// compared with it, which costs more than a hash and touches an object that is far away.
  fileprivate init(distinct elements: some Collection<Element>) {
    self.init(minimumCapacity: elements.count * 2)
    for element in elements { update(with: element) }
  }
}

/// The sets that a save has put into notifications.
///
/// What changed in its last event is most often what it writes, and making a set costs more than
/// finding that out.
struct AnnouncedSets {
  struct Entry {
    let objects: [ManagedObject]
    let set: Set<ManagedObject>
  }
  var inserted: Entry?
  var updated: Entry?
  var deleted: Entry?
}
