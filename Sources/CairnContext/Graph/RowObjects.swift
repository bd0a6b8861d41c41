import CairnModel
import CairnStore

/// Makes the objects of rows that a read of this context has just found, or finds them, and has the
/// row cache keep the rows of those that are new.
///
/// Call ``finish()`` at the end.
struct RowObjects {
  private let context: ManagedObjectContext
  private let lookup: ObjectLookup
  private let source: (any RowSource)?
  private let isChild: Bool
  private let isKept: Bool
  /// The entity that objects were made of last: rows come in runs of one entity.
  private var recent: (entity: EntityDescription, kind: ObjectKind)?
  /// New objects whose rows the row cache has not been told to keep.
  private var held: [ManagedObjectID] = []

  /// Those of the last run, kept for the next: memory that comes and goes between objects scatters
  /// them.
  private var keys: [Int64] = []

  /// So many rows are retained at a time: while they are still in the processor's cache.
  private static let runLength = 256

  init(context: ManagedObjectContext) {
    self.context = context
    lookup = ObjectLookup(context: context)
    source = context.reading.source
    isChild = source?.parent != nil
    isKept = context.retainsRegisteredObjects
  }

  /// The one object for the row, a fault with the row at hand if it is new or was a fault; nil when
  /// the object with the key is one of another entity.
  mutating func object(for row: RowSnapshot) -> (object: ManagedObject, isNew: Bool)? {
    let found = found(row)
    if let found, found.isNew {
      if held.count == Self.runLength { retainRows() }
      held.append(found.object.objectID)
    }
    return found
  }

  /// The same; the caller sees to it that the rows of new objects are retained.
  mutating func found(_ row: RowSnapshot) -> (object: ManagedObject, isNew: Bool)? {
    if let registered = registered(row) {
      guard registered.fits(row) else { return nil }
      if registered.isFault { registered.snapshot = row }
      return (registered, false)
    }
    let object = row.withObjectID { made($0) }
    // Made meanwhile by an initialiser of the program that has fetched it.
    if object.flags.contains(.retainsRow) { return (object, false) }
    object.snapshot = row
    object.flags.insert(.retainsRow)
    return (object, true)
  }

  // MARK: Many at once

  /// Appends the objects of a run of rows, those that ``found(_:)`` would give one by one.
  ///
  /// They are looked up together and registered together.
  ///
  /// - Parameter each: Told of each object before the end: what it did is to be taken back when the
  ///   answer is false.
  /// - Returns: False, and nothing is appended, when the rows have to be looked at one by one.
  mutating func append(
    _ run: Range<Int>, of rows: [RowSnapshot], to objects: inout [ManagedObject],
    _ isNew: inout [Bool], _ each: (ManagedObject, RowSnapshot, _ isNew: Bool) -> Void
  ) -> Bool {
    if isChild { return false }
    let id = rows[run.lowerBound].objectID
    var keys = takeKeys(run.count)
    defer { self.keys = keys }
    RowSnapshot.forEach(of: run, in: rows) { row in
      row.withObjectID { if $0.isRow(besides: id), let key = $0.rowKey { keys.append(key) } }
    }
    if keys.count < run.count { return false }
    var known = context.registry.objects(for: keys, like: id)
    let (start, lookup, kind) = (objects.count, lookup, kind(of: id))
    var doFit = true
    RowSnapshot.forEach(of: run, in: rows) { row in
      let place = objects.count - start
      if !known.isEmpty, let object = known[place].take() {
        // Only a damaged file has one key under two entities.
        if object.fits(row) {
          if object.isFault { object.snapshot = row }
          each(object, row, false)
        } else {
          doFit = false
        }
        isNew.append(false)
        objects.append(consume object)
      } else {
        let object = row.withObjectID { lookup.unregistered($0, as: kind) }
        object.snapshot = row
        object.flags.insert(.retainsRow)
        each(object, row, true)
        isNew.append(true)
        objects.append(consume object)
      }
    }
    return register(&objects, from: start, &isNew, as: keys, like: id, areRight: doFit)
  }

  /// Appends the objects for IDs that were found without their rows.
  mutating func append(_ ids: [ManagedObjectID], to objects: inout [ManagedObject]) {
    if ids.isEmpty || appendTogether(ids, to: &objects) { return }
    for id in ids { objects.append(object(found: id)) }
  }

  /// The same for a run of one entity; false, and nothing is appended, for others.
  private mutating func appendTogether(
    _ ids: [ManagedObjectID], to objects: inout [ManagedObject]
  ) -> Bool {
    if isChild { return false }
    let id = ids[0]
    var keys = takeKeys(ids.count)
    defer { self.keys = keys }
    for other in ids {
      if other.isRow(besides: id), let key = other.rowKey { keys.append(key) }
    }
    if keys.count < ids.count { return false }
    var known = context.registry.objects(for: keys, like: id)
    let (start, kind) = (objects.count, kind(of: id))
    var isNew: [Bool] = []
    isNew.reserveCapacity(ids.count)
    for place in ids.indices {
      if !known.isEmpty, let object = known[place].take() {
        isNew.append(false)
        objects.append(consume object)
      } else {
        isNew.append(true)
        objects.append(lookup.unregistered(ids[place], as: kind))
      }
    }
    return register(&objects, from: start, &isNew, as: keys, like: id, areRight: true)
  }

  /// The list of ``keys``, emptied.
  private mutating func takeKeys(_ count: Int) -> [Int64] {
    var keys: [Int64] = []
    swap(&keys, &self.keys)
    keys.removeAll(keepingCapacity: true)
    keys.reserveCapacity(count)
    return keys
  }

  /// Registers the new ones of the objects from a place on, or takes all from there on out again:
  /// when two have one key, or an initialiser of the program has fetched one of them meanwhile.
  private func register(
    _ objects: inout [ManagedObject], from start: Int, _ isNew: inout [Bool], as keys: [Int64],
    like id: ManagedObjectID, areRight: Bool
  ) -> Bool {
    let first = isNew.count - keys.count
    if areRight,
      context.registry.add(
        objects, from: start, as: keys, like: id, isKnown: { !isNew[first + $0] })
    {
      if isKept {
        for object in objects[start...] { context.registry.retained.insert(ObjectRef(object)) }
      }
      return true
    }
    for (place, object) in objects[start...].enumerated() where isNew[first + place] {
      object.flags.remove(.retainsRow)
    }
    objects.removeSubrange(start...)
    isNew.removeSubrange(first...)
    return false
  }

  // MARK: One by one

  /// The object for an ID that was found without its row.
  mutating func object(found id: ManagedObjectID) -> ManagedObject {
    if id.isTemporaryID { return lookup.object(with: id) }
    return registered(id) ?? made(id)
  }

  @inline(__always)
  private func registered(_ row: RowSnapshot) -> ManagedObject? {
    if isChild { return lookup.registered(row.objectID) }
    let registry = context.registry
    return row.withObjectID { registry.object(for: $0) }
  }

  private func registered(_ id: ManagedObjectID) -> ManagedObject? {
    isChild ? lookup.registered(id) : context.registry.object(for: id)
  }

  private mutating func made(_ id: ManagedObjectID) -> ManagedObject {
    lookup.materialise(id, as: kind(of: id), isKept: isKept)
  }

  private mutating func kind(of id: ManagedObjectID) -> ObjectKind {
    if let recent, recent.entity === id.entity { return recent.kind }
    let kind = context.factory.kind(for: id.entity)
    recent = (id.entity, kind)
    return kind
  }

  /// The objects of a relationship's members.
  mutating func objects(for members: [MemberRow]) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(members.count)
    for member in members {
      if let row = member.row, let (object, _) = object(for: row) {
        objects.append(object)
      } else {
        objects.append(object(found: member.objectID))
      }
    }
    return objects
  }

  private mutating func retainRows() {
    source?.retainRows(held)
    held.removeAll(keepingCapacity: true)
  }

  mutating func finish() {
    if !held.isEmpty { retainRows() }
  }
}
