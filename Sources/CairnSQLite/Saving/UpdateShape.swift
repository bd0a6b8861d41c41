import CairnSQL
import CairnStore

/// What updates of an entity that change the same properties have in common.
final class UpdateShape {
  let entity: SQLEntity
  let changedSlots: [Int]
  let changedToManys: [Int]
  /// The changed slots that are stored.
  let slots: [Int]
  /// For history.
  let mask: [UInt8]

  init(_ update: SaveChangesRequest.Update, _ entity: SQLEntity) {
    self.entity = entity
    changedSlots = update.changedSlots
    changedToManys = update.changedToManys
    slots = changedSlots.filter { entity.slots[$0].column != nil }
    mask = entity.history.mask(slots: slots, toManys: changedToManys)
  }
}
