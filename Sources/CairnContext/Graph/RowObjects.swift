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

  /// So many rows are retained at a time: while they are still in the processor's cache.
  private static let runLength = 256

  init(context: ManagedObjectContext) {
    self.context = context
    lookup = ObjectLookup(context: context)
    source = context.rowSource
    isChild = source is ParentRows
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
    let id = row.objectID
    if let registered = registered(id) {
      guard registered.fits(row) else { return nil }
      if registered.isFault { registered.snapshot = row }
      return (registered, false)
    }
    let object = made(id)
    object.snapshot = row
    object.flags.insert(.retainsRow)
    return (object, true)
  }

  /// Appends the objects for IDs that were found without their rows.
  mutating func append(_ ids: [ManagedObjectID], to objects: inout [ManagedObject]) {
    if isChild {
      for id in ids { objects.append(object(found: id)) }
      return
    }
    let (registry, lookup, isKept) = (context.registry, lookup, isKept)
    for id in ids {
      if let known = registry.object(for: id) {
        objects.append(known)
      } else {
        objects.append(lookup.materialise(id, as: kind(of: id), isKept: isKept))
      }
    }
  }

  /// The object for an ID that was found without its row.
  mutating func object(found id: ManagedObjectID) -> ManagedObject {
    if id.isTemporaryID { return lookup.object(with: id) }
    return registered(id) ?? made(id)
  }

  private func registered(_ id: ManagedObjectID) -> ManagedObject? {
    isChild ? lookup.registered(id) : context.registry.object(for: id)
  }

  private mutating func made(_ id: ManagedObjectID) -> ManagedObject {
    lookup.materialise(id, as: kind(of: id), isKept: isKept)
  }

  private mutating func kind(of id: ManagedObjectID) -> ObjectKind {
    if let recent, recent.entity === id.entity { return recent.kind }
    let kind = lookup.kind(for: id.entity)
    recent = (id.entity, kind)
    return kind
  }

  /// The fault takes the row that it has at hand, and wakes up.
  func fill(_ object: ManagedObject, with row: RowSnapshot) {
    FaultFiring.become(object, row, in: context)
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
