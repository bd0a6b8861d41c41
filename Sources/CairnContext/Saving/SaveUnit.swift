import CairnModel
import CairnStore

/// What one save writes to one store, and the objects it comes from.
///
/// Objects hand their values over as the rows of the request, without a copy. So there is one unit at
/// a time, and where its scope is left without ``beWritten()`` the objects own their values again: no
/// way out of a save can forget that.
struct SaveUnit: ~Copyable {
  let store: PersistentStore
  private(set) var request = SaveChangesRequest()
  /// In the order of the request's insertions.
  private(set) var inserted: [ManagedObject] = []
  /// In the order of the request's updates.
  private(set) var updated: [ManagedObject] = []
  private(set) var deleted: [ManagedObject] = []
  /// Changed objects without a difference to what is stored.
  private(set) var unchanged: [ManagedObject] = []
  private(set) var locked: [ManagedObject] = []
  /// Objects that were given members before the context noticed that their rows have gone.
  private(set) var lost: [ManagedObject] = []
  /// One-to-one relationships whose other side is known by an older row; see ``PartnerCheck``.
  private(set) var partners = PartnerCheck()
  /// What changed in the last update, and the same as a list: many objects most often change in the
  /// same properties, and one list is cheaper to compare with.
  private var recentChange: (set: SlotSet, slots: [Int]) = (SlotSet(), [])
  /// Whether objects hand their slots over instead of copies.
  private let isFinal: Bool
  private var isWritten = false

  /// An empty unit; ``collect(from:isOnly:)`` fills it.
  ///
  /// - Parameter isFinal: Whether the request is going to the store.
  init(store: PersistentStore, isFinal: Bool) {
    self.store = store
    self.isFinal = isFinal
  }

  /// The store has taken the values: they stay where they are.
  consuming func beWritten() { isWritten = true }

  deinit {
    if isWritten || !isFinal { return }
    for object in inserted { _ = object.ownSlots() }
    for object in updated where object.draft != nil { _ = object.ownSlots() }
  }

  /// - Parameter isOnly: Whether there is no other store that an object could be in.
  /// - Throws: 133010 for a relationship that leads to another store.
  mutating func collect(from context: ManagedObjectContext, isOnly: Bool) throws {
    request.author = context.transactionAuthor
    request.contextName = context.name
    request.sidecar = context.nextSave.sidecar[store]
    if context.pending.traits.contains(.inserted) {
      request.insertions.reserveCapacity(context.pending.count)
      inserted.reserveCapacity(context.pending.count)
    }
    let identity = store.identity
    for object in context.pending.objects {
      guard object.objectID.storeIdentity === identity else {
        if isOnly { throw Self.homeless(object) }
        continue
      }
      if object.isInserted {
        try insert(object)
      } else if object.flags.contains(.deleted) {
        delete(object, in: context)
      } else {
        try update(object)
      }
    }
    addLocksOfPartners()
    for reference in context.registry.retained {
      let object = reference.object
      guard object.flags.contains(.locked), !object.hasChanges,
        object.objectID.storeIdentity === store.identity, let snapshot = object.snapshot
      else { continue }
      locked.append(object)
      request.locks.append(.init(objectID: object.objectID, version: snapshot.version))
    }
  }

  static func homeless(_ object: ManagedObject) -> CoreDataError {
    CoreDataError(
      .persistentStoreSave,
      "The object \(object.objectID) cannot be saved: its store is not open in the coordinator.",
      userInfo: ["NSAffectedObjectsErrorKey": [object]])
  }

  private mutating func insert(_ object: ManagedObject) throws {
    let row = try row(of: object, version: 1, checking: nil)
    request.insertions.append(.init(snapshot: row))
    inserted.append(object)
    if !object.toManyValues.isEmpty { try addLinks(of: object) }
  }

  private mutating func update(_ object: ManagedObject) throws {
    let toManys = object.toManyValues.indices.filter {
      !object.layout.toManys[$0].isTransient && object.toManyValues[$0]?.hasChanges == true
    }
    let changed = object.isFault ? SlotSet() : object.persistentlyChangedSlots
    if changed.isEmpty, toManys.isEmpty {
      unchanged.append(object)
      return
    }
    _ = object.firedSlots
    guard !object.isDeleted, let base = object.snapshot else {
      if object.isDeleted { lost.append(object) }
      return
    }
    if recentChange.set != changed { recentChange = (changed, changed.members) }
    let slots = recentChange.slots
    // Versions come out of files: one at the end of what there is begins anew.
    let row = try row(of: object, version: base.version &+ 1, checking: slots)
    request.updates.append(
      .init(
        snapshot: row, basedOn: base.version, changedSlots: slots, changedToManys: toManys))
    updated.append(object)
    if object.unretainedLayout.with({ !$0.toOneSlots.isEmpty }) {
      for slot in slots where object.layout.isToOneSlot[slot] { partners.add(object, slot, base) }
    }
    for index in toManys { object.toManyValues[index]?.forgetOrder(olderThan: base.version) }
    try addLinks(of: object)
  }

  /// Partners that are not written themselves must be what they are known as.
  private mutating func addLocksOfPartners() {
    if partners.unwritten.isEmpty { return }
    let written = Set(updated.map(ObjectRef.init))
    for partner in partners.unwritten where !written.contains(ObjectRef(partner)) {
      guard let version = partner.snapshot?.version else { continue }
      request.locks.append(.init(objectID: partner.objectID, version: version))
    }
  }

  private mutating func delete(_ object: ManagedObject, in context: ManagedObjectContext) {
    deleted.append(object)
    if let version = context.pending.version(of: object),
      !object.flags.contains(.inaccessible)
    {
      request.deletions.append(.init(objectID: object.objectID, version: version))
      return
    }
    // A row that was gone before needs no deletion.
    guard !object.flags.contains(.inaccessible), let snapshot = object.snapshot else {
      if Self.isRelated(object) { lost.append(object) }
      return
    }
    request.deletions.append(.init(snapshot: snapshot))
    if object.toManyValues.isEmpty { return }
    for link in LinkChanges(object: object, isDeleted: true).changes { request.links.append(link) }
  }

  /// Whether an object without a row has been related to others.
  private static func isRelated(_ object: ManagedObject) -> Bool {
    if object.toManyValues.contains(where: { $0?.added.isEmpty == false }) { return true }
    guard let slots = object.slots else { return false }
    return object.layout.toOneSlots.contains { !slots[$0].isNull }
  }

  private mutating func addLinks(of object: ManagedObject) throws {
    if object.toManyValues.isEmpty { return }
    for link in LinkChanges(object: object, isDeleted: false).changes {
      for member in link.added { try checkStore(of: member, from: object, link.relationship) }
      request.links.append(link)
    }
  }

  /// The object's values as a row, without transient ones: if it can be, the slots as they are.
  ///
  /// Checks where to-one slots lead: all of them, or those named.
  private func row(
    of object: ManagedObject, version: Int64, checking changed: [Int]?
  ) throws -> RowSnapshot {
    let (isWhole, leads) = object.unretainedLayout.with {
      ($0.persistentSlots.count == object.slotCount, !$0.toOneSlots.isEmpty)
    }
    if leads { try checkDestinations(of: object, changed ?? object.layout.toOneSlots) }
    if isFinal, isWhole, let sealed = object.sealSlots(version: version) { return sealed }
    let (slots, layout) = (object.firedSlots, object.layout)
    return RowSnapshot.make(
      objectID: object.objectID, version: version, count: object.slotCount
    ) { target in
      target.initialize(from: slots, count: object.slotCount)
      if !isWhole {
        for slot in 0..<object.slotCount where layout.slots[slot].isTransient {
          target[slot] = .null
        }
      }
    }
  }

  private func checkDestinations(of object: ManagedObject, _ slots: [Int]) throws {
    let (values, layout) = (object.firedSlots, object.layout)
    for slot in slots where layout.isToOneSlot[slot] {
      if case .object(let id) = values[slot], let relationship = layout.slots[slot].relationship {
        try checkStore(of: id, from: object, relationship)
      }
    }
  }

  private func checkStore(
    of id: ManagedObjectID, from object: ManagedObject, _ relationship: RelationshipDescription
  ) throws {
    guard id.storeIdentity !== store.identity, !relationship.isTransient else { return }
    if id.isTemporaryID {
      throw CoreDataError(
        .managedObjectValidation,
        "The relationship \(relationship.name) of \(object.objectID) leads to a new object that was "
          + "deleted or belongs to no context. Set it to another object or to nil.",
        userInfo: [
          "NSValidationErrorObject": object, "NSValidationErrorKey": relationship.name,
        ])
    }
    throw CoreDataError(
      .managedObjectExternalRelationship,
      "The relationship \(relationship.name) of \(object.objectID) leads to \(id), which is in "
        + "another store. Keep both in one store, or use a fetched property.",
      userInfo: [
        "NSAffectedObjectsErrorKey": [object], "NSValidationErrorKey": relationship.name,
      ])
  }
}
