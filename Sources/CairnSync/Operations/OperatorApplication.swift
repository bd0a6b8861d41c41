@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation

/// Carries out an operator's edits on the objects of a context.
///
/// Used on the context's queue only.
final class OperatorApplication {
  private let access: StoreAccess
  private let ledger: Ledger
  private let context: ManagedObjectContext
  /// Objects of records that come back.
  private var revived: [RecordID: ManagedObject] = [:]
  private var revivedRecords: [ObjectIdentifier: RecordID] = [:]
  var hasRevived: Bool { !revived.isEmpty }

  init(access: StoreAccess, ledger: Ledger, context: ManagedObjectContext) {
    self.access = access
    self.ledger = ledger
    self.context = context
  }

  /// - Returns: How many of the edits changed something.
  func run(_ edits: [OperatorEdit]) throws -> Int {
    var count = 0
    for case .revive(let id, let entity, _) in edits { try insert(id, entity) }
    for edit in edits {
      switch edit {
      case .revive(let id, let entity, let values):
        for name in values.keys.sorted() {
          guard let value = values[name], try column(name, of: entity) != nil else { continue }
          _ = try set(id, name, value, isStrict: false)
        }
        count += 1
      case .set(let id, let property, let value):
        count += try set(id, property, value, isStrict: true) ? 1 : 0
      case .link(let key, let isMember): count += try setLink(key, isMember) ? 1 : 0
      case .place(let owner, let relationship, let member, let key):
        count += try place(owner, relationship, member, key) ? 1 : 0
      case .delete(let id):
        guard let object = try object(for: id) else { continue }
        context.delete(object)
        count += 1
      }
    }
    if hasRevived {
      try orderRevived(edits)
      try writeRevived(edits)
    }
    return count
  }

  // MARK: Objects

  /// The object that stands for a record now; nil when there is none.
  func object(for id: RecordID) throws -> ManagedObject? {
    if let object = revived[id] { return object }
    let id = try ledger.resolve(id)
    if let object = revived[id] { return object }
    guard let entry = try ledger.record(id), let objectID = ledger.objectID(for: entry),
      // At once through the row cache, so that the object is what is stored now.
      try context.persistentStoreCoordinator?.snapshots(for: [objectID], maximumAge: 0).first ?? nil
        != nil
    else { return nil }
    return context.object(with: objectID)
  }

  /// The records that a refused save is about.
  func culprits(of error: CoreDataError) -> Set<RecordID> {
    let conflicts = error.userInfo[SaveErrorKey.conflicts] as? [ConstraintConflict] ?? []
    let errors = (error.userInfo[SaveErrorKey.detailedErrors] as? [any Error]) ?? [error]
    let objects =
      conflicts.flatMap(\.conflictingObjects)
      + errors.compactMap {
        ($0 as? CoreDataError)?.userInfo[SaveErrorKey.object] as? ManagedObject
      }
    return Set(
      objects.compactMap { (try? record(of: $0)) ?? nil })
  }

  private func present(_ id: RecordID) throws -> ManagedObject {
    if let object = try object(for: id) { return object }
    throw SyncError(
      .noSuchRecord, "the record \(id) has no object in the local store", recovery: .person)
  }

  private func insert(_ id: RecordID, _ name: String) throws {
    guard let plan = access.schema.entities[name], !plan.entity.isAbstract,
      access.store.holds(plan.entity)
    else {
      throw SyncError(
        .incompatibleModel, "the local store's model has no entity \(name)", recovery: .person)
    }
    let object = plan.entity.insertObject(into: context)
    context.assign(object, to: access.store)
    revived[id] = object
    revivedRecords[ObjectIdentifier(object)] = id
  }

  /// Says in the bookkeeping which records the new rows are, and that they were written after the delete:
  /// history tells of an insertion, too, but a program may purge that before it is captured.
  private func writeRevived(_ edits: [OperatorEdit]) throws {
    try context.obtainPermanentIDs(for: Array(revived.values))
    ledger.head.sequence += 1
    let stamp = ledger.tick(
      milliseconds: access.environment.now(), limit: access.latestCredibleTime)
    for (id, object) in revived.sorted(by: { $0.key < $1.key }) {
      guard var entry = try ledger.record(id) else { continue }
      let deletion = entry.deletion
      let kept = entry.overlay.filter { name, _ in
        access.schema.entities[entry.entity]?.names.place(of: name) == nil
      }
      let writes = entry.writes
      let former = entry.base
      entry.overlay = kept
      // Without a delete of its own it was hidden along with its owner.
      if let deletion {
        let write = PropertyWrite(stamp: deletion.stamp, seen: deletion.seen).overwritten(at: stamp)
        ledger.noteGiven(write.stamp.clock)
        entry.base = write
        // What this model does not know stays as it was.
        entry.writes = kept.keys.reduce(into: [:]) { $0[$1] = writes[$1] ?? former }
      }
      entry.key = object.objectID.key
      ledger.setRecordID(id, for: object.objectID)
      ledger.setRecord(id, entry)
    }
    // Others may have forgotten them with the record, and where they stand they would not be sent again.
    for case .link(let key, true) in edits {
      guard revived[key.owner] != nil || revived[key.member] != nil,
        let known = try ledger.link(key)?.state, known.isMember
      else { continue }
      try ledger.setLink(key, known)
    }
  }

  // MARK: Values

  private func column(_ name: String, of entity: String) throws -> SyncSchema.Column? {
    guard let plan = access.schema.entities[entity] else { return nil }
    return plan.names.place(of: name).map { plan.columns[$0] }
  }

  /// - Parameter isStrict: Whether a value that cannot be written is an error; otherwise it is left.
  /// - Returns: Whether the object had another.
  private func set(
    _ id: RecordID, _ property: String, _ value: WireValue, isStrict: Bool
  ) throws -> Bool {
    let object = try present(id)
    let entity = object.entity.name ?? ""
    guard let column = try column(property, of: entity) else {
      throw SyncError(
        .noSuchProperty, "\(entity) has no property \(property) in this version of the model",
        recovery: .person)
    }
    guard let stored = try stored(value, for: column, object, isStrict) else { return false }
    if object.storedValue(at: column.slot).isSameStoredValue(as: stored) { return false }
    object.setStoredValue(stored, at: column.slot)
    return true
  }

  private func stored(
    _ value: WireValue, for column: SyncSchema.Column, _ owner: ManagedObject, _ isStrict: Bool
  ) throws -> AttributeValue? {
    if value == .null { return .null }
    let entity = owner.entity.name ?? ""
    guard let relationship = column.relationship else {
      let attribute = owner.entity.layout.slots[column.slot].attribute
      if let stored = RowReading.attributeValue(value), attribute?.accepts(value) == true {
        return stored
      }
      if !isStrict { return nil }
      throw SyncError(
        .invalidRecord, "\(entity).\(column.name) is of another type in this version of the model",
        recovery: .person)
    }
    if let target = value.reference, let object = try object(for: target),
      relationship.destinationEntity.map(object.entity.isKindOf) ?? true
    {
      return .object(object.objectID)
    }
    if !isStrict { return nil }
    throw SyncError(
      .notAllowed,
      "\(entity).\(column.name) led to the record \(value.reference?.description ?? "?"), which is "
        + "deleted or not here; restore that one first", recovery: .person)
  }

  // MARK: Members

  private func setLink(_ key: LinkKey, _ isMember: Bool) throws -> Bool {
    guard let relationship = access.schema.links[key.relationship]?.relationship else {
      throw SyncError(
        .noSuchProperty, "this version of the model has no relationship \(key.relationship)",
        recovery: .person)
    }
    let owner = try present(key.owner)
    guard let member = try object(for: key.member) else {
      if !isMember { return false }
      throw SyncError(
        .notAllowed,
        "\(key.relationship) led to the record \(key.member), which is deleted or not here; "
          + "restore that one first", recovery: .person)
    }
    guard let index = owner.entity.layout.toManyByName[relationship.name] else { return false }
    if owner.memberIDs(ofToMany: index).contains(member.objectID) == isMember { return false }
    MemberChange.apply(
      to: relationship, of: owner, adding: isMember ? [member] : [],
      removing: isMember ? [] : [member])
    return true
  }

  private func place(
    _ owner: RecordID, _ name: String, _ member: RecordID, _ key: PositionKey
  ) throws -> Bool {
    let object = try present(owner)
    let moved = try present(member)
    guard let relationship = object.entity.relationshipsByName[name],
      let side = access.schema.orderedSide(relationship, of: object.entity)
    else {
      throw SyncError(
        .noSuchProperty,
        "\(object.entity.name ?? "") has no ordered relationship \(name) in this version of the model",
        recovery: .person)
    }
    let places = MemberPlaces(side: side, owner: try ledger.resolve(owner))
    let members =
      (object.value(forKey: name) as? NSOrderedSet)?.compactMap { $0 as? ManagedObject } ?? []
    guard let index = members.firstIndex(where: { $0 === moved }) else {
      throw SyncError(
        .notAllowed, "the record \(member) is not among the \(name) of \(owner) any more",
        recovery: .person)
    }
    var others = members
    others.remove(at: index)
    let after = try others.firstIndex { other in
      guard let id = try ledger.recordID(for: other.objectID),
        let place = try places.register(of: id, ledger).flatMap(MemberPlaces.position)
      else { return false }
      return key < place
    }
    others.insert(moved, at: after ?? others.endIndex)
    if others == members { return false }
    object.setValue(NSOrderedSet(array: others), forKey: name)
    return true
  }
}

// MARK: Places of what comes back

extension OperatorApplication {
  /// Puts records that come back into the places of their owners' lists that they had.
  private func orderRevived(_ edits: [OperatorEdit]) throws {
    let suffix = SyncSchema.positionSuffix
    var keys: [RecordID: [String: PositionKey]] = [:]
    var lists: [ManagedObjectID: (owner: ManagedObject, relationships: [String: String])] = [:]
    for case .revive(let id, let entity, let values) in edits {
      for (name, value) in values where name.hasSuffix(suffix) {
        guard case .data(let data) = value, let key = PositionKey(data: data),
          let column = try column(String(name.dropLast(suffix.count)), of: entity),
          let list = column.orderedInverse, let member = try object(for: id),
          let owner = member.value(forKey: column.name) as? ManagedObject
        else { continue }
        keys[id, default: [:]][name] = key
        lists[owner.objectID, default: (owner, [:])].relationships[list.name] = name
      }
    }
    for (_, list) in lists {
      for (relationship, name) in list.relationships {
        let members =
          (list.owner.value(forKey: relationship) as? NSOrderedSet)?
          .compactMap { $0 as? ManagedObject } ?? []
        let places = try members.map { member -> PositionKey? in
          guard let id = try record(of: member) else { return nil }
          if let key = keys[id]?[name] { return key }
          guard case .data(let data)? = try ledger.record(id)?.overlay[name] else { return nil }
          return PositionKey(data: data)
        }
        let sorted = zip(members, places).enumerated().sorted { a, b in
          switch (a.element.1, b.element.1) {
          case (let x?, let y?) where x != y: x < y
          case (_?, nil): true
          case (nil, _?): false
          default: a.offset < b.offset
          }
        }
        if sorted.map(\.offset) == Array(members.indices) { continue }
        list.owner.setValue(NSOrderedSet(array: sorted.map(\.element.0)), forKey: relationship)
      }
    }
  }

  private func record(of object: ManagedObject) throws -> RecordID? {
    try revivedRecords[ObjectIdentifier(object)] ?? ledger.recordID(for: object.objectID)
  }
}

extension AttributeDescription {
  /// Whether the attribute can have the value, whatever version of the model it was written for.
  func accepts(_ value: WireValue) -> Bool {
    switch (attributeType, value) {
    case (_, .null), (.integer16, .integer), (.integer32, .integer), (.integer64, .integer),
      (.boolean, .boolean), (.double, .double), (.float, .float), (.decimal, .decimal),
      (.string, .string), (.date, .date), (.binaryData, .data), (.transformable, .data),
      (.uuid, .uuid), (.uri, .url):
      return true
    default: return false
    }
  }
}
