import CairnModel
import CairnStore

/// Finds partners of changed one-to-one relationships that the context knows by an older row.
///
/// Both sides of such a relationship have a key. The row that a change is based on says which
/// partner leads back. A partner whose own row here says otherwise is behind what is stored: what
/// was changed on its side may look like no change, or was not thought necessary.
struct PartnerCheck {
  /// Changes that leave a partner whose row does not say that it leads back.
  private var left: [(object: ManagedObject, slot: Int, base: AttributeValue)] = []
  /// New partners whose row led back before they got the key, and how they are to say so.
  private var joined: [(partner: ManagedObject, slot: Int, value: AttributeValue)] = []
  /// Changes to a partner that has none to be saved itself: a refresh has taken it away, or it is
  /// gone.
  private var unread: [(object: ManagedObject, slot: Int, base: AttributeValue)] = []
  /// Partners whose change is none by their own row: the store has to compare the version.
  private(set) var unwritten: [ManagedObject] = []

  /// Whether something has to be looked at before the store can be asked.
  var hasDoubts: Bool { !left.isEmpty || !joined.isEmpty || !unread.isEmpty }

  /// A to-one slot of an updated object has been changed.
  mutating func add(_ object: ManagedObject, _ slot: Int, _ base: RowSnapshot) {
    guard let inverse = object.layout.slots[slot].relationship?.inverseRelationship,
      !inverse.isToMany, let context = object.registry?.context
    else { return }
    let lookup = ObjectLookup(context: context)
    if case .object(let id) = base[slot], !isSettled(lookup.registered(id), by: object, inverse) {
      left.append((object, slot, base[slot]))
    }
    if case .object(let id)? = object.slots?[slot] {
      if let partner = lookup.registered(id), !partner.isFault {
        join(partner, object, inverse)
      } else {
        unread.append((object, slot, base[slot]))
      }
    }
  }

  /// Whether the partner that an object has left is known to have led to it, or is being saved.
  private func isSettled(
    _ partner: ManagedObject?, by object: ManagedObject, _ inverse: RelationshipDescription
  ) -> Bool {
    guard let partner else { return false }
    guard partner.flags.isDisjoint(with: [.deleted, .inserted]),
      let slot = InverseMaintenance.slot(of: inverse, in: partner)
    else { return true }
    guard let row = partner.snapshot else { return false }
    if Self.leads(row[slot], to: object) { return true }
    // The store compares the version of what is written.
    return partner.slots.map { !$0[slot].isSameStoredValue(as: row[slot]) } ?? false
  }

  private mutating func join(
    _ partner: ManagedObject, _ object: ManagedObject, _ inverse: RelationshipDescription
  ) {
    guard partner.flags.isDisjoint(with: [.deleted, .inserted]),
      let slot = InverseMaintenance.slot(of: inverse, in: partner),
      let row = partner.snapshot, Self.leads(row[slot], to: object),
      let value = partner.slots?[slot], Self.leads(value, to: object)
    else { return }
    if partner.isUpdated, partner.changedSlots.contains(slot) {
      unwritten.append(partner)
    } else {
      joined.append((partner, slot, value))
    }
  }

  private static func leads(_ value: AttributeValue, to object: ManagedObject) -> Bool {
    guard case .object(let id) = value else { return false }
    return id == object.objectID
  }

  /// Partners that were left let go; those that were joined say so, if they are there.
  func resolve() {
    for (partner, slot, value) in joined { partner.write(value, at: slot) }
    for (object, slot, base) in left {
      RelationshipRestoring(object).release(base, at: slot)
    }
    for (object, slot, base) in unread {
      RelationshipRestoring(object).insist(at: slot, over: base)
    }
  }
}
