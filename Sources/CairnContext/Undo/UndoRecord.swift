import CairnModel

/// What one event of a context did, as needed to take it back.
final class UndoRecord {
  /// In the order in which they happened, without insertions and deletions.
  let entries: [EventLog.Entry]
  /// Objects that the event brought into the context.
  let insertions: [ManagedObject]
  /// Objects that it took out.
  let deletions: [ManagedObject]
  private let holds: UndoHolds

  /// Nil when there is nothing to take back.
  init?(_ log: ArraySlice<EventLog.Entry>, holds: UndoHolds) {
    var entries: [EventLog.Entry] = []
    entries.reserveCapacity(log.count)
    var order: [ManagedObject] = []
    var lives: [ObjectRef: Life] = [:]
    for entry in log {
      let isThere: Bool
      switch entry.change {
      case .insertion: isThere = true
      case .deletion: isThere = false
      case .slot, .loose, .added, .removed, .reordered:
        entries.append(entry)
        continue
      }
      if lives[ObjectRef(entry.object)]?.note(isThere) == nil {
        lives[ObjectRef(entry.object)] = Life(wasThere: !isThere, isThere: isThere)
        order.append(entry.object)
      }
    }
    self.entries = entries
    insertions = order.filter { lives[ObjectRef($0)]?.change == true }
    deletions = order.filter { lives[ObjectRef($0)]?.change == false }
    self.holds = holds
    holds.add(insertions)
    holds.add(deletions)
    if entries.isEmpty, insertions.isEmpty, deletions.isEmpty { return nil }
  }

  deinit {
    holds.remove(insertions)
    holds.remove(deletions)
  }

  /// Whether an object was in the context before the event and after it.
  private struct Life {
    let wasThere: Bool
    var isThere: Bool

    /// True for an insertion, false for a deletion, nil when they cancel out.
    var change: Bool? { wasThere == isThere ? nil : isThere }

    mutating func note(_ isThere: Bool) { self.isThere = isThere }
  }
}

/// How many records need an object that may be out of the context.
///
/// Such an object keeps its relationships, to come back with them. When no record can bring it back
/// any more they go, because objects that refer to each other would never be freed.
// Belongs to the queue of the context, like the records.
final class UndoHolds {
  private var counts: [ObjectIdentifier: Int] = [:]

  func add(_ objects: [ManagedObject]) {
    for object in objects { counts[ObjectIdentifier(object), default: 0] += 1 }
  }

  func remove(_ objects: [ManagedObject]) {
    for object in objects {
      let count = (counts[ObjectIdentifier(object)] ?? 1) - 1
      counts[ObjectIdentifier(object)] = count > 0 ? count : nil
      if count <= 0, object.registry?.context == nil { object.forgetToManyValues() }
    }
  }

  func contains(_ object: ManagedObject) -> Bool { counts[ObjectIdentifier(object)] != nil }
}
