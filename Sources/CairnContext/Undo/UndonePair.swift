import CairnModel
import CairnStore

/// A one-to-one relationship that undo or redo changes on one side, by what was recorded.
///
/// The record knows the partner of then. When another writer has given the object another one since,
/// that one's side is in no record.
struct UndonePair {
  let object: ManagedObject
  private let slot: Int
  private let inverse: RelationshipDescription
  /// The value that is about to be replaced.
  private let displaced: AttributeValue

  /// Nil for a change of something else.
  ///
  /// Call it before the entry is reverted.
  init?(_ entry: EventLog.Entry) {
    guard case .slot(let slot, _) = entry.change, entry.object.layout.isToOneSlot[slot],
      let slots = entry.object.slots,
      let inverse = entry.object.layout.slots[slot].relationship?.inverseRelationship,
      !inverse.isToMany
    else { return nil }
    (object, self.slot, self.inverse, displaced) = (entry.object, slot, inverse, slots[slot])
  }

  /// The former partner lets go, and the present one leads back.
  func mend() {
    guard !object.isDeleted, !object.flags.contains(.discarded), object.slots != nil else { return }
    let now = InverseMaintenance.target(of: object, at: slot)
    if let former = partner(displaced), former !== now {
      InverseMaintenance.detach(object, from: former, inverse: inverse)
    }
    guard let now, let place = place(in: now) else { return }
    let other = InverseMaintenance.target(of: now, at: place)
    if other === object { return }
    if let other, !other.isDeleted, !other.isFault,
      InverseMaintenance.target(of: other, at: slot(in: other) ?? slot) === now
    {
      other.write(.null, at: slot(in: other) ?? slot)
    }
    now.write(.object(object.objectID), at: place)
  }

  private func partner(_ value: AttributeValue) -> ManagedObject? {
    guard case .object(let id) = value, let context = object.registry?.context else { return nil }
    let partner = context.object(with: context.currentID(id))
    return place(in: partner) == nil ? nil : partner
  }

  /// Where the inverse is in a partner that is there; nil for one that is gone.
  private func place(in partner: ManagedObject) -> Int? {
    if partner.isFault { try? FaultFiring.fill([partner]) }
    guard !partner.isFault, !partner.isDeleted, partner.registry === object.registry,
      partner.flags.isDisjoint(with: [.deletedElsewhere, .inaccessible, .discarded])
    else { return nil }
    return InverseMaintenance.slot(of: inverse, in: partner)
  }

  private func slot(in other: ManagedObject) -> Int? {
    object.layout.slots[slot].relationship.flatMap { InverseMaintenance.slot(of: $0, in: other) }
  }
}
