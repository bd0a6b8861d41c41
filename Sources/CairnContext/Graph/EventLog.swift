import CairnModel

/// What each change of the current event replaced, in order: the source of
/// `changedValuesForCurrentEvent()` and of one step of undo.
///
/// Changes of objects inserted in the same event are not logged, because taking back the
/// insertion takes them back too. Insertions and deletions are logged only for undo.
struct EventLog {
  enum Change {
    /// A slot and the value it had.
    case slot(Int, old: AttributeValue)
    /// A transient property of undefined type, by slot, and the value it had.
    case loose(Int, old: Any?)
    /// A member that came into a to-many relationship, by index.
    case added(Int, ManagedObject)
    /// A member that left a to-many relationship, and its position when that is ordered.
    case removed(Int, ManagedObject, position: Int?)
    /// An ordered relationship, by index, and the order it had.
    case reordered(Int, old: [ManagedObject])
    /// The object came into the context.
    case insertion
    /// The object is to go.
    case deletion
  }

  struct Entry {
    let object: ManagedObject
    let change: Change
  }

  private var entries: [Entry] = []
  /// Where the current event begins; before it is what observers are being told about.
  private var start = 0
  /// The entries of each object, as far as ``changes(of:)`` has looked.
  private var index: [ObjectRef: [Int]] = [:]
  private var indexedCount = 0

  mutating func append(_ object: ManagedObject, _ change: Change) {
    entries.append(Entry(object: object, change: change))
  }

  /// What happened in the current event.
  var current: ArraySlice<Entry> { entries[start...] }

  /// Ends the event; its entries stay until ``endTelling(_:)``, for observers.
  mutating func beginTelling() -> Int {
    let count = entries.count - start
    start = entries.count
    return count
  }

  /// Forgets the entries of the event that observers were told about.
  mutating func endTelling(_ count: Int) {
    (index, indexedCount) = ([:], 0)
    // An observer may have rolled back.
    let count = min(count, start)
    if count == entries.count {
      entries.removeAll(keepingCapacity: count < 1024)
      start = 0
      return
    }
    entries.removeSubrange((start - count)..<start)
    start -= count
  }

  mutating func removeAll() { self = EventLog() }

  /// The changes of one object, newest first.
  mutating func changes(of object: ManagedObject) -> [Change] {
    // Asked for many objects of a large event, so each entry is looked at once.
    while indexedCount < entries.count {
      index[ObjectRef(entries[indexedCount].object), default: []].append(indexedCount)
      indexedCount += 1
    }
    return (index[ObjectRef(object)] ?? []).reversed().map { entries[$0].change }
  }
}

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
