import CairnModel
import CairnStore
import Foundation

/// What an event of the context means for the results: which objects leave them, and which changed
/// ones belong to them now.
struct ResultsEvent {
  /// Places in the results whose objects leave.
  private(set) var removed: Set<Int> = []
  private(set) var members: [ResultsUpdate.Member] = []

  var isEmpty: Bool { removed.isEmpty && members.isEmpty }

  /// - Throws: When the rows of refreshed objects cannot be read.
  init(_ info: [AnyHashable: Any], tracking: ResultsTracking) throws {
    guard let coordinator = tracking.context.persistentStoreCoordinator else { return }
    let entity = try tracking.request.entity(in: coordinator.managedObjectModel)
    let includesSubentities = tracking.request.includesSubentities
    func objects(_ keys: ManagedObjectContext.NotificationKey...) -> [ManagedObject] {
      keys.flatMap { info[$0.rawValue] as? Set<ManagedObject> ?? [] }.filter {
        includesSubentities ? $0.entity.isKindOf(entity: entity) : $0.entity === entity
      }
    }
    var seen: Set<ObjectIdentifier> = []
    for object in objects(.deletedObjects, .invalidatedObjects) {
      seen.insert(ObjectIdentifier(object))
      if let place = tracking.place(of: object) { removed.insert(place) }
    }
    let changed = objects(.insertedObjects, .updatedObjects, .refreshedObjects).filter {
      seen.insert(ObjectIdentifier($0)).inserted
    }
    if changed.isEmpty { return }
    try FaultFiring.fill(changed)
    for object in changed {
      let place = tracking.place(of: object)
      if Self.matches(object, tracking.request) {
        let name = tracking.sectionNameKeyPath.map {
          ResultsTracking.name(of: object.value(forKeyPath: $0))
        }
        members.append(.init(object: object, origin: place ?? -1, name: name ?? ""))
      } else if let place {
        removed.insert(place)
      }
    }
    // Sets have no order; new objects with equal sort values keep the one they were made in.
    members.sort { ResultsEvent.age($0) < ResultsEvent.age($1) }
  }

  private static func matches(_ object: ManagedObject, _ request: AnyFetchRequest) -> Bool {
    // A row that is gone leaves a fault.
    if object.isDeleted || object.isFault { return false }
    if let stores = request.affectedStores, let store = object.objectID.persistentStore,
      !stores.contains(where: { $0 === store })
    {
      return false
    }
    guard let predicate = request.predicate else { return true }
    return (try? predicate.test(object)) ?? false
  }

  private static func age(_ member: ResultsUpdate.Member) -> (UInt64, UInt64) {
    switch (member.object as? ManagedObject)?.objectID.key {
    case .row(let key): return (0, UInt64(bitPattern: key))
    case .temporary(let number): return (1, number)
    case .reference, nil: return (0, 0)
    }
  }
}
