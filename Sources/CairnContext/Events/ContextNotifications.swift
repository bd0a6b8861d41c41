import CairnCoordinator
import CairnModel
import Foundation

/// Posts the notifications of a context, on its queue.
struct ContextNotifications {
  typealias Key = ManagedObjectContext.NotificationKey
  let context: ManagedObjectContext

  /// Posted for a parent when a child has saved into it, with object IDs and the child.
  static let childDidSave = Notification.Name("CairnChildContextDidSave")
  static let childKey = "child"

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
    ids[Self.childKey] = context
    NotificationCenter.default.post(
      name: Self.childDidSave, object: parent, userInfo: ids)
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
    if let known = context.event.announcedSets?[keyPath: place],
      known.objects.count == objects.count,
      zip(known.objects, objects).allSatisfy({ $0 === $1 })
    {
      return known.set
    }
    var set = Set<ManagedObject>(minimumCapacity: objects.count * 2)
    MemoryAhead.each(of: objects) { set.update(with: $0) }
    context.event.announcedSets?[keyPath: place] = AnnouncedSets.Entry(objects: objects, set: set)
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

/// What another context saved, as IDs that are valid here.
struct MergedChanges: Sendable {
  var inserted: [ManagedObjectID] = []
  var updated: [ManagedObjectID] = []
  var deleted: [ManagedObjectID] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
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
