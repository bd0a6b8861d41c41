import CairnModel

/// What records the events of a context so that they can be taken back: a context without an undo
/// manager has none.
///
/// The context tells what happened and asks what is still needed; how that is kept is not its
/// business.
protocol EventRecording: AnyObject {
  /// Whether events are recorded: then insertions and deletions are logged too.
  var isRecording: Bool { get }
  /// Whether an event is being taken back.
  var isReplaying: Bool { get }
  /// Takes what one event of the context did.
  func record(_ event: ArraySlice<EventLog.Entry>, of context: ManagedObjectContext)
  /// Whether an object that leaves the context may have to come back.
  func holds(_ object: ManagedObject) -> Bool
}

extension ManagedObjectContext {
  /// Whether insertions and deletions are logged for undo.
  final var recordsUndo: Bool { recorder?.isRecording ?? false }
}
