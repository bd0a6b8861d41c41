import CairnCoordinator
import Synchronization

/// To which state of the stores a context's reads are pinned, if to any.
///
/// Set on the context's queue; asynchronous fetches read elsewhere. Mutable state: the token, inside
/// the mutex, which is held while a state is taken, so that two first reads take the same.
final class GenerationPin: Sendable {
  private let token = Mutex<QueryGenerationToken?>(nil)

  /// Nil for no pin, `current` until the first read, then the state that was read.
  var current: QueryGenerationToken? {
    get { token.withLock { $0 } }
    set {
      // The old token may be the last one of a state, whose end is not to happen inside the lock.
      let old = token.withLock { token in
        defer { token = newValue }
        return token
      }
      withExtendedLifetime(old) {}
    }
  }

  /// What to read from: nil for the newest rows.
  func resolved(
    in coordinator: PersistentStoreCoordinator
  ) throws -> QueryGenerationToken? {
    try token.withLock { token in
      guard let known = token else { return nil }
      guard known.isCurrent else { return known }
      let state = try coordinator.currentQueryGeneration()
      token = state
      return state
    }
  }
}
