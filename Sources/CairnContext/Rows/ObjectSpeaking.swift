import CairnCoordinator
import CairnModel
import CairnStore

/// What a context asks of a store of a program's own, which speaks in objects, beside the contract
/// of stores, which knows values only.
protocol ObjectSpeaking: PersistentStore {
  /// The IDs that new objects keep, in their order.
  func permanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID]
}

/// Hands the context that asks across the value line, past the coordinator, to stores that speak in
/// objects.
///
/// The contract of stores knows values only. A context that calls its coordinator names itself here
/// for as long as the call lasts; work for a store runs on the thread of the caller, so that the
/// store, above the line again, finds the context it works for. A read on another thread than the
/// context's, as of an asynchronous fetch, names none.
enum ObjectHandOver {
  @TaskLocal private static var bound: ManagedObjectContext?

  /// The context whose call is being served, on this thread.
  static var context: ManagedObjectContext? { bound }

  /// Runs the body, naming the context when a store of the coordinator wants to know.
  static func serving<Result>(
    _ context: @autoclosure () -> ManagedObjectContext?, by coordinator: PersistentStoreCoordinator,
    _ body: () throws -> Result
  ) rethrows -> Result {
    guard coordinator.hasMembers, let context = context() else { return try body() }
    return try $bound.withValue(context) { try body() }
  }
}
