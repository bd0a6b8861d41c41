import CairnModel

/// What each change of the current event replaced, in order: the source of
/// `changedValuesForCurrentEvent()` and of one step of undo.
///
/// Changes of objects inserted in the same event are not logged, because taking back the
/// insertion takes them back too.
struct EventLog {
  enum Change {
    /// A slot and the value it had.
    case slot(Int, old: AttributeValue)
    /// A member that came into a to-many relationship, by index.
    case added(Int, ManagedObject)
    /// A member that left a to-many relationship, and its position when that is ordered.
    case removed(Int, ManagedObject, position: Int?)
  }

  struct Entry {
    let object: ManagedObject
    let change: Change
  }

  private(set) var entries: [Entry] = []

  mutating func append(_ object: ManagedObject, _ change: Change) {
    entries.append(Entry(object: object, change: change))
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: entries.count < 1024) }

  /// The changes of one object, newest first.
  func changes(of object: ManagedObject) -> [Change] {
    entries.reversed().filter { $0.object === object }.map(\.change)
  }
}
