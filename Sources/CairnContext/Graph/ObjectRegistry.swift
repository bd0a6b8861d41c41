import CairnModel
import CairnStore
import Synchronization

/// Which object stands for which ID in one context: at most one for each.
///
/// Objects are not kept alive by the registry; an object takes itself out when it goes. The last
/// reference to an object may be given up on any thread, so the tables are guarded by a mutex, and
/// a lookup hands out an object only if it is not being freed at that moment.
// Unchecked: the tables are inside `state`; `retained` belongs to the context's queue; `context` is written once, by the
// context's initialiser, and a weak reference may be read while its object goes on another thread.
final class ObjectRegistry: @unchecked Sendable {
  private struct State {
    var objects = ObjectTables()
    /// Permanent IDs of objects that once had the temporary ID, for children that still know it.
    var successors = SuccessorTable()
    /// The way back, while there are children.
    var predecessors: [ObjectIDRef: ManagedObjectID] = [:]
    /// Whether some child context may still use the temporary IDs of saved objects.
    var hasChildren = false
    /// Whether an object outside of the context may still lead to new ones by their temporary IDs.
    var hasDrafts = false
    /// Rows that objects gave up on being freed; released in the row cache in batches.
    var abandonedRows: [ManagedObjectID] = []
  }
  private let state = Mutex(State())

  /// The context; nil once it has gone.
  nonisolated(unsafe) weak var context: ManagedObjectContext?

  /// Objects that are kept alive because the program wants all of them kept, or the next save to look
  /// at them.
  // `@exclusivity(unchecked)` as in ManagedObject, and for the same reason.
  @exclusivity(unchecked)
  var retained: Set<ObjectRef> = []

  // MARK: Lookup

  /// The object with the ID; nil when there is none.
  func object(for id: ManagedObjectID) -> ManagedObject? {
    state.withLock { ObjectAddress.object(at: $0.objects.address(of: id)) }
  }

  /// The objects of members of one relationship, nil where there is none; an empty list when there
  /// are none at all.
  func objects(for members: [MemberVersion]) -> [ManagedObject?] {
    state.withLock { state in
      var objects: [ManagedObject?] = []
      guard let first = members.first, state.objects.hasObjects(like: first.objectID) else {
        return objects
      }
      objects.reserveCapacity(members.count)
      for member in members {
        objects.append(ObjectAddress.object(at: state.objects.address(of: member.objectID)))
      }
      return objects
    }
  }

  /// The objects of rows with many keys, of the entity and store of an ID, nil where there is none; an
  /// empty list when there is none at all.
  func objects(for keys: [Int64], like id: ManagedObjectID) -> [ManagedObject?] {
    state.withLock { state in
      var objects: [ManagedObject?] = []
      guard state.objects.hasObjects(like: id) else { return objects }
      for (place, key) in keys.enumerated() {
        let object = ObjectAddress.object(at: state.objects.table.rows[key])
        if objects.isEmpty {
          if object == nil { continue }
          objects.reserveCapacity(keys.count)
          for _ in 0..<place { objects.append(nil) }
        }
        objects.append(object)
      }
      return objects
    }
  }

  /// All registered objects.
  var objects: [ManagedObject] {
    state.withLock { $0.objects.all.compactMap(ObjectAddress.object) }
  }

  /// How many objects are registered.
  var count: Int { state.withLock { $0.objects.count } }

  // MARK: Changes

  func add(_ object: ManagedObject) {
    let address = ObjectAddress.of(object)
    state.withLock { $0.objects.set(address, for: object.objectID) }
  }

  /// The same for an object that was just made for an ID, unless there is one by now, because an
  /// initialiser of the program has fetched it: then that one is given.
  func add(_ object: ManagedObject, as id: ManagedObjectID) -> ManagedObject {
    let address = ObjectAddress.of(object)
    return state.withLock { state in
      guard let key = id.rowKey else {
        state.objects.set(address, for: id)
        return nil
      }
      state.objects.turn(to: id)
      return state.objects.add(address, for: key)
    } ?? object
  }

  func add(_ objects: [ManagedObject]) {
    state.withLock { state in
      var place = 0
      while place < objects.count {
        let run = place..<Self.endOfRun(of: objects, from: place)
        place = run.upperBound
        if run.isEmpty {
          state.objects.set(ObjectAddress.of(objects[place]), for: objects[place].objectID)
          place += 1
          continue
        }
        state.objects.turn(to: objects[run.lowerBound].objectID)
        state.objects.table.rows.set(run.count) { offset in
          let object = objects[run.lowerBound + offset]
          return (object.objectID.rowKey ?? 0, ObjectAddress.of(object))
        }
      }
    }
  }

  /// Adds the objects from a place on under row keys of the entity and store of an ID, all but those
  /// that `isKnown` tells of.
  ///
  /// - Returns: False when a key has another object by now. Those before it have been added.
  func add(
    _ objects: [ManagedObject], from start: Int, as keys: [Int64], like id: ManagedObjectID,
    isKnown: (Int) -> Bool
  ) -> Bool {
    // Given up outside the lock, because it may be the last reference.
    var other: ManagedObject?
    ObjectAddress.each(of: objects) { addresses in
      state.withLock { state in
        state.objects.turn(to: id)
        for (place, key) in keys.enumerated() where !isKnown(place) {
          other = state.objects.add(addresses[start + place], for: key)
          if other != nil { return }
        }
      }
    }
    return other == nil
  }

  /// Forgets the object, unless another one has taken its place.
  func remove(_ object: ManagedObject, id: ManagedObjectID, givesUpRow: Bool = false) {
    let address = ObjectAddress.of(object)
    state.withLock { state in
      if state.objects.address(of: id) == address { state.objects.set(0, for: id) }
      if givesUpRow { state.abandonedRows.append(id) }
    }
  }

  /// Many objects leave the context: they are forgotten, and give up the rows that they hold.
  func letGo(of objects: [ManagedObject]) {
    state.withLock { state in
      var place = 0
      while place < objects.count {
        let run = place..<Self.endOfRun(of: objects, from: place)
        place = run.upperBound
        if run.isEmpty {
          let id = objects[place].objectID
          if state.objects.address(of: id) == ObjectAddress.of(objects[place]) {
            state.objects.set(0, for: id)
          }
          place += 1
          continue
        }
        state.objects.turn(to: objects[run.lowerBound].objectID)
        state.objects.table.rows.remove(run.count) { offset in
          let object = objects[run.lowerBound + offset]
          return (object.objectID.rowKey ?? 0, ObjectAddress.of(object))
        }
      }
      for object in objects {
        if object.flags.contains(.retainsRow) { state.abandonedRows.append(object.objectID) }
        object.flags.subtract(.untilDetached)
        object.registry = nil
      }
    }
  }

  /// Gives an object its permanent ID.
  func replaceTemporaryID(of object: ManagedObject, by id: ManagedObjectID) {
    replaceTemporaryIDs(of: CollectionOfOne(object), by: CollectionOfOne(id))
  }

  /// Gives objects their permanent IDs.
  func replaceTemporaryIDs(
    of objects: some Sequence<ManagedObject>, by ids: some Sequence<ManagedObjectID>
  ) {
    state.withLock { state in
      for (object, id) in zip(objects, ids) {
        let old = object.objectID
        let address = ObjectAddress.of(object)
        if state.objects.address(of: old) == address { state.objects.set(0, for: old) }
        if case .temporary(let number) = old.key {
          state.successors.set(id, for: number)
          if state.hasChildren { state.predecessors[ObjectIDRef(id)] = old }
        }
        // The old ID stays with its other holders: nothing of the registry goes with it.
        object.objectID = id
        state.objects.set(address, for: id)
      }
    }
  }

  /// Gives new objects of this registry the row keys that a store has reserved for runs of them: the
  /// first key of each run, the others follow it.
  func giveRowKeys(
    _ keys: [Int64], in runs: [RowKeyRun], of store: StoreIdentity, to objects: [ManagedObject]
  ) {
    state.withLock { state in
      // Every new object of the registry is in the table, and most often all get their keys at once.
      let areAll = state.objects.temporary.count == objects.count
      var place = 0
      for (run, first) in zip(runs, keys) {
        state.objects.turn(to: run.entity, in: store)
        state.objects.table.rows.reserve(more: run.count)
        let home = state.objects.table.home(of: run.entity)
        for key in first..<first + Int64(run.count) {
          let object = objects[place]
          place += 1
          guard object.objectID.isTemporaryID else { continue }
          if !areAll { state.objects.set(0, for: object.objectID) }
          // An ID that only the object holds need not stay what it was.
          if isKnownUniquelyReferenced(&object.objectID) {
            object.objectID.becomePermanent(in: home, key: key)
          } else {
            let old = object.objectID
            let id = ManagedObjectID(home: home, rowKey: key)
            if case .temporary(let number) = old.key { state.successors.set(id, for: number) }
            if state.hasChildren { state.predecessors[ObjectIDRef(id)] = old }
            object.objectID = id
          }
          state.objects.table.rows[key] = ObjectAddress.of(object)
        }
      }
      if areAll { state.objects.temporary.removeAll() }
    }
  }

  /// The permanent ID that replaced a temporary one, or the ID itself.
  func current(_ id: ManagedObjectID) -> ManagedObjectID {
    guard case .temporary(let number) = id.key else { return id }
    return state.withLock { $0.successors.id(for: number) } ?? id
  }

  /// The temporary ID that an object had before it was saved, for children that know it.
  func predecessor(of id: ManagedObjectID) -> ManagedObjectID? {
    state.withLock { $0.predecessors.isEmpty ? nil : $0.predecessors[ObjectIDRef(id)] }
  }

  /// From now on the temporary IDs of saved objects are remembered.
  func expectChildren() { state.withLock { $0.hasChildren = true } }

  /// While there are ``Drafts``, it is remembered which IDs new objects got: an object that is put into the context later
  /// may lead to them.
  func expectDrafts() { state.withLock { $0.hasDrafts = true } }

  /// After a save only children and drafts can ask for temporary IDs.
  func forgetTemporaryIDs() {
    state.withLock {
      if !Drafts.areAny { $0.hasDrafts = false }
      if !$0.hasChildren, !$0.hasDrafts { $0.successors = SuccessorTable() }
    }
  }

  /// Forgets everything.
  func removeAll() {
    state.withLock { state in
      var new = State()
      new.abandonedRows = state.abandonedRows
      (new.hasChildren, new.hasDrafts) = (state.hasChildren, state.hasDrafts)
      if state.hasChildren || state.hasDrafts {
        (new.successors, new.predecessors) = (state.successors, state.predecessors)
      }
      state = new
    }
  }

  /// The rows that freed objects no longer need, once there are at least so many.
  func takeAbandonedRows(atLeast count: Int) -> [ManagedObjectID] {
    state.withLock { state in
      guard state.abandonedRows.count >= max(count, 1) else { return [] }
      defer { state.abandonedRows = [] }
      return state.abandonedRows
    }
  }

  /// Where the rows of one table end that begin at a place; there already if that is no row.
  private static func endOfRun(of objects: [ManagedObject], from start: Int) -> Int {
    let id = objects[start].objectID
    if id.rowKey == nil { return start }
    var end = start + 1
    while end < objects.count, objects[end].objectID.isRow(besides: id) { end += 1 }
    return end
  }
}

extension ManagedObjectID {
  /// Whether it names a row of the same entity in the same store.
  func isRow(besides other: ManagedObjectID) -> Bool {
    rowKey != nil
      && (homeIdentity == other.homeIdentity
        || (entity === other.entity && isIn(other.storeIdentity)))
  }
}
