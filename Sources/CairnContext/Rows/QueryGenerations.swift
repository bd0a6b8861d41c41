import CairnCoordinator
import CairnStore
import Foundation

// Pinning a context to one state of its stores.

extension ManagedObjectContext {
  /// The state that the context reads, nil when it reads the newest rows.
  ///
  /// ``QueryGenerationToken/current`` from pinning to that until the first read, which decides the
  /// state. Always nil in a child context, which reads what its parent reads.
  public var queryGenerationToken: QueryGenerationToken? {
    confinement.check()
    return reading.source?.pin?.current
  }

  /// Pins what the context reads from now on to one state of its stores.
  ///
  /// Fetches, faults and relationships read that state: the one that ``QueryGenerationToken/current`` stands for, decided by the first
  /// read, or that of another context's token. Nil lets it read the newest rows again.
  ///
  /// Objects that the context has read already stay as they are; call `refreshAllObjects()` to have
  /// them follow. Saves are still checked against the newest rows. After its own save the context
  /// is pinned to a state with that save in it, after merging changes to one with these changes,
  /// after `reset()` to the one that is current then.
  ///
  /// Stores without this ability are read as they are: XML, binary and custom stores, and SQLite
  /// stores with a rollback journal.
  ///
  /// - Throws: 134060 for a child context, one without coordinator, and a token of other stores;
  ///   134070 for a token whose state is gone. Reads throw 134070 when the state has been given up
  ///   later; see ``StoreOptionKey/queryGenerationMaximumAge``.
  public func setQueryGenerationFrom(_ generation: QueryGenerationToken?) throws {
    confinement.check()
    try CoreDataError.bridging {
      guard let coordinator = reading.source?.coordinator, let pin = reading.source?.pin else {
        throw CoreDataError(
          .coreData,
          parent == nil
            ? "The context has no persistent store coordinator; set one before pinning it."
            : "A child context reads what its parent reads; pin the context at the root.")
      }
      try generation?.checkUse(with: coordinator.persistentStores)
      pin.current = generation
    }
  }

  /// After a save or before a merge: a pinned context goes on to a state with the changes in it.
  ///
  /// - Parameter token: That of the context that saved; taken if it is of the same stores, else the
  ///   next read decides.
  final func advanceQueryGeneration(to token: QueryGenerationToken? = nil) {
    guard let (coordinator, pin) = activePin else { return }
    let isUsable =
      token.map { (try? $0.checkUse(with: coordinator.persistentStores)) != nil } ?? false
    pin.current = isUsable ? token : .current
  }

  /// The state to which a pinned context goes on after its save; nil when it is not pinned.
  final func pinAfterSave() -> QueryGenerationToken? {
    guard let (coordinator, pin) = activePin else { return nil }
    pin.current = .current
    // Without one the next read takes it, or says what is wrong.
    return (try? pin.resolved(in: coordinator)) ?? nil
  }

  /// The pin of a context that is pinned, and the coordinator whose stores it is about.
  private var activePin: (PersistentStoreCoordinator, GenerationPin)? {
    guard let source = reading.source, let coordinator = source.coordinator, let pin = source.pin,
      pin.current != nil
    else { return nil }
    return (coordinator, pin)
  }
}
