// The queues of an open group, for the watchdog.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import CairnSync

/// What the watchdog asks of an open group, and what it looks at.
struct WatchedGroup: Sendable {
  private let group: OpenGroup

  init(_ group: OpenGroup) { self.group = group }

  /// What waits for the connection that writes to the local store; nil where the store does not tell.
  var writes: QueueWork? { group.local.capabilities.writer?.writerWork }

  var links: [LinkQueue] { group.engine.linkQueues }

  /// The same way as any caller's read: a context, its queue, the coordinator, the store.
  func read() async {
    let context = group.newContext(named: "watchdog")
    guard let entity = group.coordinator.managedObjectModel.entities.first?.name else { return }
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.fetchLimit = 1
    request.affectedStores = [group.local]
    do {
      _ = try await context.perform { try context.count(for: request) }
    } catch {
      group.health.note(error)
    }
  }

  /// Takes a turn on the connection that writes, as any writer does, and writes nothing.
  ///
  /// That another program has the lock all the time, or that the store is not written any more, is an answer.
  func write() async {
    guard let local = group.local.capabilities.exclusiveWrites else { return }
    try? await Blocking.run { try local.holdingWrites {} }
  }
}
