import CairnModel
import CairnStore
import Foundation

/// Gives faults their values: from the object's own snapshot, the row cache, or the store.
enum FaultFiring {
  /// Reads the values of one fault.
  ///
  /// When the row is gone the object becomes a deleted one whose values are all nil, unless the
  /// context says otherwise; then this traps, because a property read cannot throw. The values of an
  /// object whose context was reset or has gone are all nil as well.
  ///
  /// - Parameter property: The one that is read or written, if it is about one.
  static func fire(_ object: ManagedObject, for property: PropertyDescription? = nil) {
    guard let context = object.registry?.context else {
      // Reset, or gone: nothing can be read for the object any more.
      becomeEmpty(object)
      return
    }
    context.confinement.check()
    if object.isInserted {
      // Refreshed before it was saved.
      object.adoptDefaults(of: object.layout)
      return
    }
    if let snapshot = object.snapshot {
      become(object, snapshot)
      return
    }
    if let batch = object.batch, batch.fill(with: object, in: context) { return }
    if fillWithSiblings(object, in: context) { return }
    do {
      if try read(object, in: context, maximumAge: context.maximumRowAge) { return }
    } catch {
      // A property read cannot throw: the values are nil, and the next save reports the error.
      context.nextSave.readFailure = error
      becomeEmpty(object)
      return
    }
    guard
      context.shouldHandleInaccessibleFault(
        object, for: object.objectID, triggeredByProperty: property)
    else {
      // A row that another writer deleted never leads here by itself: by default the object becomes
      // a deleted one. Only a program that turned shouldDeleteInaccessibleFaults off, or overrode
      // this, asked for Core Data's exception, and a property read cannot throw. No archive of a
      // context turns it off.
      fatalError("CoreData could not fulfill a fault for '\(object.objectID)'")
    }
    makeInaccessible(object, in: context)
  }

  /// How many members of a relationship are read with the first one that is asked for.
  private static let siblingLimit = 128

  /// Reads the other members of the relationship loaded last along with one of them, because
  /// a program that asks for one will ask for the others.
  private static func fillWithSiblings(
    _ object: ManagedObject, in context: ManagedObjectContext
  ) -> Bool {
    guard let group = context.reading.lastMembers, group.members.count > 1,
      group.members.contains(object),
      // These read one object a call, each when it is asked for.
      context.persistentStoreCoordinator?.hasMembers != true
        || object.objectID.persistentStore?.capabilities.worksObjectByObject != true
    else { return false }
    var batch = [object]
    for member in group.members where batch.count < siblingLimit {
      if member !== object, member.isFault, member.snapshot == nil { batch.append(member) }
    }
    try? fill(batch, maximumAge: context.maximumRowAge)
    return !object.isFault
  }

  /// Reads the row of one fault; false when there is none.
  private static func read(
    _ object: ManagedObject, in context: ManagedObjectContext, maximumAge: TimeInterval?
  ) throws -> Bool {
    guard let source = context.reading.source else { return false }
    let id = object.objectID
    if id.isTemporaryID, source.parent == nil { return false }
    guard let row = try source.retainedRow(for: id, maximumAge: maximumAge) else { return false }
    let isFitting = object.fits(row)
    if isFitting, !object.flags.contains(.retainsRow) {
      object.flags.insert(.retainsRow)
    } else {
      // One holder an object, and none for the row of another.
      source.releaseRows([id])
    }
    if isFitting, object.isFault { become(object, row) }
    return isFitting
  }

  /// Reads the values of a fault; if its row is gone it stays one.
  static func fill(_ object: ManagedObject, maximumAge: TimeInterval?) throws {
    guard object.isFault else { return }
    if let snapshot = object.snapshot { return become(object, snapshot) }
    guard !object.isInserted, let context = object.registry?.context else { return fire(object) }
    _ = try read(object, in: context, maximumAge: maximumAge)
  }

  /// Reads the values of several faults at once; those whose rows are gone stay faults.
  static func fill(_ objects: [ManagedObject], maximumAge: TimeInterval? = nil) throws {
    var faults: [ManagedObject] = []
    for object in objects where object.isFault {
      if let snapshot = object.snapshot {
        become(object, snapshot)
      } else if object.isInserted {
        fire(object)
      } else if object.registry?.context?.parent != nil || !object.objectID.isTemporaryID {
        faults.append(object)
      }
    }
    guard let source = faults.first?.registry?.context?.reading.source else { return }
    let rows = try source.rows(for: faults.map(\.objectID), maximumAge: maximumAge)
    var held: [ManagedObjectID] = []
    for (object, row) in zip(faults, rows) {
      guard let row, object.isFault, object.fits(row) else { continue }
      if !object.flags.contains(.retainsRow), object.registry?.context != nil {
        object.flags.insert(.retainsRow)
        held.append(object.objectID)
      }
      become(object, row)
    }
    if !held.isEmpty { source.retainRows(held) }
  }

  /// The object with an ID, with its values.
  ///
  /// - Throws: 133000 when there is no such object.
  static func existingObject(
    with id: ManagedObjectID, in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = context.object(with: id)
    if object.isFault {
      try fill(object, maximumAge: context.maximumRowAge)
    }
    if object.isFault || object.isDeleted {
      throw CoreDataError(
        .managedObjectReferentialIntegrity,
        "There is no object \(id) any more. Attempt to access an object not found in store.",
        userInfo: ["NSAffectedObjectsErrorKey": [object]])
    }
    return object
  }

  /// The object takes the row as its committed values and wakes up.
  static func become(_ object: ManagedObject, _ row: RowSnapshot) {
    become(object, row, in: object.registry?.context)
  }

  /// The same for an object of a context that is known.
  static func become(
    _ object: ManagedObject, _ row: RowSnapshot, in context: ManagedObjectContext?
  ) {
    object.adopt(row)
    if !object.flags.contains(.retainsRow) { retainRow(of: object) }
    object.flags.insert(.awaking)
    context?.bringOrderedSetsUpToDate()
    object.awakeFromFetch()
    object.flags.remove(.awaking)
  }

  static func retainRow(of object: ManagedObject) {
    guard !object.flags.contains(.retainsRow), let source = object.registry?.context?.reading.source
    else { return }
    object.flags.insert(.retainsRow)
    source.retainRows([object.objectID])
  }

  private static func makeInaccessible(
    _ object: ManagedObject, in context: ManagedObjectContext
  ) {
    becomeEmpty(object)
    context.pending.mark(object, as: .deleted)
    context.pending.note(object, .eventDeleted)
  }

  /// The object has no values, and none can be read.
  static func becomeEmpty(_ object: ManagedObject) {
    object.adoptSlots(of: Array(repeating: .null, count: object.slotCount))
    object.flags.insert(.inaccessible)
  }

  // MARK: Relationships

  /// How many members of a relationship get their rows when they are listed.
  private static let memberRowLimit = 128

  /// Reads the members of one to-many relationship, and the rows of the first ones: a program that
  /// lists members will look at them, and the row is where the member's entity is read as well.
  static func load(_ value: ToManyValue, index: Int, of object: ManagedObject) {
    guard let context = object.registry?.context else { return value.load([]) }
    context.confinement.check()
    let id = object.objectID
    guard let source = context.reading.source, !id.isTemporaryID || context.parent != nil else {
      value.load([])
      return
    }
    value.version = object.snapshot?.version
    do {
      let members = try source.memberRows(
        of: object.layout.toManys[index], owners: [id], maximumAge: context.maximumRowAge,
        rowLimit: memberRowLimit)[0]
      var found = RowObjects(context: context)
      value.load(found.objects(for: members))
      found.finish()
      if members.contains(where: { $0.row == nil }) { context.reading.lastMembers = value }
    } catch {
      context.nextSave.readFailure = error
    }
  }

  /// The committed members of a to-many relationship, read without making objects of them; nil
  /// when they cannot be read, which the next save reports.
  static func memberIDs(_ index: Int, of object: ManagedObject) -> [ManagedObjectID]? {
    guard let context = object.registry?.context else { return [] }
    context.confinement.check()
    guard let source = context.reading.source,
      !object.objectID.isTemporaryID || context.parent != nil
    else { return [] }
    do {
      return try source.members(of: object.layout.toManys[index], owners: [object.objectID])[0]
    } catch {
      context.nextSave.readFailure = error
      return nil
    }
  }
}
