import CairnStore

/// What goes with a context's next save beside the changes of its objects, and what that save has to
/// know.
struct NextSave {
  /// The stores that the program has chosen for new objects.
  var assignments: [ObjectRef: PersistentStore] = [:]
  var sidecar = SidecarPending()
  /// Why objects could not be read since the last save: a property read cannot throw, so the save
  /// does.
  var readFailure: (any Error)?
  /// While the save is running.
  var isRunning = false
  /// While a merge policy or a merge changes objects, which is nothing that undo takes back.
  var isResolvingConflicts = false

  /// Forgets what the program wanted the save to do.
  mutating func forgetIntentions() {
    assignments = [:]
    sidecar.removeAll()
    readFailure = nil
  }
}

extension ManagedObjectContext {
  /// Runs what a merge policy or a merge changes: nothing of it is recorded for undo.
  final func resolvingConflicts<Result>(_ body: () throws -> Result) rethrows -> Result {
    let isNested = nextSave.isResolvingConflicts
    nextSave.isResolvingConflicts = true
    defer { nextSave.isResolvingConflicts = isNested }
    return try body()
  }
}
