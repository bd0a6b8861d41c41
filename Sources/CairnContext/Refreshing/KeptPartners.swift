import CairnModel
import CairnStore

/// One-to-one values that objects keep though newer rows say otherwise.
///
/// An object with unsaved changes takes a newer row beneath them. The other sides of what it keeps
/// followed the row that it had before; they follow again once every object has its new row, or the
/// next save would leave the partner that another writer has given it with a key of its own.
struct KeptPartners {
  let context: ManagedObjectContext
  private var kept: [(object: ManagedObject, slot: Int, stored: AttributeValue)] = []

  init(context: ManagedObjectContext) { self.context = context }

  /// Called before the object takes the row.
  mutating func note(_ object: ManagedObject, over row: RowSnapshot) {
    guard let slots = object.slots, let base = object.snapshot, object.fits(row) else { return }
    let changed = object.changedSlots
    if changed.isEmpty { return }
    for slot in object.layout.toOneSlots
    where changed.contains(slot) && !base[slot].isSameStoredValue(as: row[slot])
      && !slots[slot].isSameStoredValue(as: base[slot])
      && !slots[slot].isSameStoredValue(as: row[slot])
      && object.layout.slots[slot].relationship?.inverseRelationship?.isToMany == false
    {
      kept.append((object, slot, row[slot]))
    }
  }

  /// The partners follow; like what a merge policy decides, that is nothing that undo takes back.
  func follow() {
    if kept.isEmpty { return }
    context.processPendingChanges()
    context.resolvingConflicts {
      for (object, slot, stored) in kept where !object.isDeleted {
        RelationshipRestoring(object).insist(at: slot, over: stored)
      }
      context.processPendingChanges()
    }
  }
}
