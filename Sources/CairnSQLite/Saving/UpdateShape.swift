import CairnSQL
import CairnStore

/// What updates of an entity that change the same properties have in common.
final class UpdateShape {
  let entity: SQLEntity
  let changedSlots: [Int]
  let changedToManys: [Int]
  /// The changed slots that are stored; those of derived attributes are the file's to fill, and what
  /// an object has of them may be older.
  let slots: [Int]
  /// For history.
  let mask: [UInt8]

  init(_ update: SaveChangesRequest.Update, _ entity: SQLEntity) {
    self.entity = entity
    changedSlots = update.changedSlots
    changedToManys = update.changedToManys
    slots = changedSlots.filter {
      entity.slots[$0].column != nil && !entity.derivedSlots.contains($0)
    }
    mask = entity.history.mask(slots: slots, toManys: changedToManys)
  }
}
