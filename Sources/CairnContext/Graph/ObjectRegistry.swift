import CRuntime
import CairnModel
import CairnStore
import Synchronization

/// Which object stands for which ID in one context: at most one for each.
///
/// Objects are not kept alive by the registry; an object takes itself out when it goes. The last
/// reference to an object may be given up on any thread, so the tables are guarded by a mutex, and
/// a lookup hands out an object only if it is not being freed at that moment.
// Unchecked: the tables are inside `state`; `context` is written once by the context's
// initialiser and once by its `deinit`, which runs where objects are used as well: the library gives
// up references to contexts on their own queues only, and so must programs.
final class ObjectRegistry: @unchecked Sendable {
  /// The objects of one store and one entity tree.
  private struct Table {
    let store: StoreIdentity?
    var rows = RowTable()
    var references: [String: UInt] = [:]
    /// Of IDs of new objects that were saved.
    private var homes: [ObjectHome] = []

    init(store: StoreIdentity?) { self.store = store }

    var isEmpty: Bool { rows.count == 0 && references.isEmpty }

    /// The home of IDs of an entity's rows.
    mutating func home(of entity: EntityDescription) -> ObjectHome {
      if let known = homes.first(where: { $0.isOfRows(entity, in: store) }) { return known }
      let home = ObjectHome(rowsOf: entity, in: store)
      homes.append(home)
      return home
    }
  }

  private struct State {
    /// All but the one in use, whose place has an empty one.
    var tables: [Table] = []
    /// Places in ``tables`` by number of the root entity; seldom more than one store each.
    var places: [[Int]] = []
    /// The table in use, taken out of ``tables``.
    ///
    /// What lies here is asked without being retained for each question, and rows come in runs of
    /// one entity.
    var table = Table(store: nil)
    var place: Int?
    /// What was asked last; its table is the one in use.
    var recentEntity: EntityDescription?
    var recentStore: StoreIdentity?
    var temporary = RowTable()
    /// Permanent IDs of objects that once had the temporary ID, for children that still know it.
    var successors = SuccessorTable()
    /// The way back, while there are children.
    var predecessors: [ObjectIDRef: ManagedObjectID] = [:]
    /// Whether some child context may still use the temporary IDs of saved objects.
    var hasChildren = false
    /// Rows that objects gave up on being freed; released in the row cache in batches.
    var abandonedRows: [ManagedObjectID] = []
  }
  private let state = Mutex(State())

  /// The context; nil once it has gone.
  nonisolated(unsafe) unowned(unsafe) var context: ManagedObjectContext?

  // MARK: Lookup

  /// The object with the ID; nil when there is none.
  func object(for id: ManagedObjectID) -> ManagedObject? {
    state.withLock { Self.retained(Self.address(of: id, in: &$0)) }
  }

  /// The objects of members of one relationship, nil where there is none; an empty list when there
  /// are none at all.
  func objects(for members: [MemberVersion]) -> [ManagedObject?] {
    state.withLock { state in
      var objects: [ManagedObject?] = []
      guard let first = members.first, Self.hasObjects(like: first.objectID, in: &state) else {
        return objects
      }
      objects.reserveCapacity(members.count)
      for member in members {
        objects.append(Self.retained(Self.address(of: member.objectID, in: &state)))
      }
      return objects
    }
  }

  /// All registered objects.
  var objects: [ManagedObject] {
    state.withLock { state in
      var addresses = state.temporary.all
      for table in state.tables + [state.table] {
        addresses += table.rows.all
        addresses += table.references.values
      }
      return addresses.compactMap(Self.retained)
    }
  }

  // MARK: Changes

  func add(_ object: ManagedObject) { add(object, as: object.objectID) }

  /// The same for an object whose ID is at hand.
  func add(_ object: ManagedObject, as id: ManagedObjectID) {
    let address = Self.address(of: object)
    state.withLock { Self.set(address, for: id, in: &$0) }
  }

  func add(_ objects: [ManagedObject]) {
    state.withLock { state in
      var place = 0
      while place < objects.count {
        let run = place..<Self.endOfRun(of: objects, from: place)
        place = run.upperBound
        if run.isEmpty {
          Self.set(Self.address(of: objects[place]), for: objects[place].objectID, in: &state)
          place += 1
          continue
        }
        Self.turn(to: objects[run.lowerBound].objectID, in: &state)
        state.table.rows.set(run.count) { offset in
          let object = objects[run.lowerBound + offset]
          return (object.objectID.rowKey ?? 0, Self.address(of: object))
        }
      }
    }
  }

  /// Forgets the object, unless another one has taken its place.
  func remove(_ object: ManagedObject, id: ManagedObjectID, givesUpRow: Bool = false) {
    let address = Self.address(of: object)
    state.withLock { state in
      if Self.address(of: id, in: &state) == address { Self.set(0, for: id, in: &state) }
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
          if Self.address(of: id, in: &state) == Self.address(of: objects[place]) {
            Self.set(0, for: id, in: &state)
          }
          place += 1
          continue
        }
        Self.turn(to: objects[run.lowerBound].objectID, in: &state)
        state.table.rows.remove(run.count) { offset in
          let object = objects[run.lowerBound + offset]
          return (object.objectID.rowKey ?? 0, Self.address(of: object))
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
        let address = Self.address(of: object)
        if Self.address(of: old, in: &state) == address { Self.set(0, for: old, in: &state) }
        if case .temporary(let number) = old.key {
          state.successors.set(id, for: number)
          if state.hasChildren { state.predecessors[ObjectIDRef(id)] = old }
        }
        // The old ID stays with whoever still has it: nothing of the registry goes with it.
        object.objectID = id
        Self.set(address, for: id, in: &state)
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
      let areAll = state.temporary.count == objects.count
      var place = 0
      for (run, first) in zip(runs, keys) {
        Self.turn(to: run.entity, in: store, &state)
        state.table.rows.reserve(more: run.count)
        let home = state.table.home(of: run.entity)
        for key in first..<first + Int64(run.count) {
          let object = objects[place]
          place += 1
          guard object.objectID.isTemporaryID else { continue }
          if !areAll { Self.set(0, for: object.objectID, in: &state) }
          // An ID that nobody else has seen need not stay what it was.
          if isKnownUniquelyReferenced(&object.objectID) {
            object.objectID.becomePermanent(in: home, key: key)
          } else {
            let old = object.objectID
            let id = ManagedObjectID(home: home, rowKey: key)
            if case .temporary(let number) = old.key { state.successors.set(id, for: number) }
            if state.hasChildren { state.predecessors[ObjectIDRef(id)] = old }
            object.objectID = id
          }
          state.table.rows[key] = Self.address(of: object)
        }
      }
      if areAll { state.temporary.removeAll() }
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

  /// After a save only children can ask for temporary IDs.
  func forgetTemporaryIDs() {
    state.withLock { if !$0.hasChildren { $0.successors = SuccessorTable() } }
  }

  /// Forgets everything.
  func removeAll() {
    state.withLock { state in
      var new = State()
      new.abandonedRows = state.abandonedRows
      new.hasChildren = state.hasChildren
      if state.hasChildren {
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

  func giveUpRows(_ ids: [ManagedObjectID]) {
    state.withLock { $0.abandonedRows += ids }
  }

  // MARK: Tables

  /// Where the rows of one table end that begin at a place; there already if that is no row.
  private static func endOfRun(of objects: [ManagedObject], from start: Int) -> Int {
    let id = objects[start].objectID
    if id.rowKey == nil { return start }
    var end = start + 1
    while end < objects.count, objects[end].objectID.isRow(besides: id) { end += 1 }
    return end
  }

  private static func address(of object: ManagedObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  private static func address(of id: ManagedObjectID, in state: inout State) -> UInt {
    if case .temporary(let number) = id.key { return state.temporary[Int64(bitPattern: number)] }
    turn(to: id, in: &state)
    if let key = id.rowKey { return state.table.rows[key] }
    guard case .reference(let text) = id.key else { return 0 }
    return state.table.references[text] ?? 0
  }

  private static func set(
    _ address: UInt, for id: ManagedObjectID, in state: inout State
  ) {
    if case .temporary(let number) = id.key {
      state.temporary[Int64(bitPattern: number)] = address
      return
    }
    turn(to: id, in: &state)
    if let key = id.rowKey {
      state.table.rows[key] = address
    } else if case .reference(let text) = id.key {
      state.table.references[text] = address == 0 ? nil : address
    }
  }

  private static func hasObjects(like id: ManagedObjectID, in state: inout State) -> Bool {
    turn(to: id, in: &state)
    return !state.table.isEmpty
  }

  /// Makes the table that an ID belongs to the one in use.
  @inline(__always)
  private static func turn(to id: ManagedObjectID, in state: inout State) {
    if state.recentEntity !== id.entity || !id.isIn(state.recentStore) {
      turnAway(to: id.entity, in: id.storeIdentity, &state)
    }
  }

  @inline(__always)
  private static func turn(
    to entity: EntityDescription, in store: StoreIdentity?, _ state: inout State
  ) {
    if state.recentEntity !== entity || state.recentStore !== store {
      turnAway(to: entity, in: store, &state)
    }
  }

  @inline(never)
  private static func turnAway(
    to entity: EntityDescription, in store: StoreIdentity?, _ state: inout State
  ) {
    state.recentEntity = entity
    state.recentStore = store
    if let place = state.place { swap(&state.table, &state.tables[place]) }
    let root = entity.layout?.rootNumber ?? 0
    while state.places.count <= root { state.places.append([]) }
    let place: Int
    if let known = state.places[root].first(where: { state.tables[$0].store === store }) {
      place = known
    } else {
      place = state.tables.count
      state.tables.append(Table(store: store))
      state.places[root].append(place)
    }
    swap(&state.table, &state.tables[place])
    state.place = place
  }

  /// The object behind a pointer with a reference of its own, or nil when it is being freed: what
  /// loading a `weak` reference does, without the side table that one needs.
  private static func retained(_ address: UInt) -> ManagedObject? {
    guard let pointer = UnsafeMutableRawPointer(bitPattern: address),
      cairn_try_retain(pointer) != nil
    else { return nil }
    return Unmanaged<ManagedObject>.fromOpaque(pointer).takeRetainedValue()
  }
}

extension ManagedObjectID {
  /// Whether it names a row of the same entity in the same store.
  fileprivate func isRow(besides other: ManagedObjectID) -> Bool {
    rowKey != nil && entity === other.entity && isIn(other.storeIdentity)
  }
}

/// Permanent IDs by the numbers of the temporary ones they replaced.
private struct SuccessorTable {
  /// Place in ``ids`` plus one, by number.
  private var places = RowTable()
  private var ids: [ManagedObjectID] = []

  func id(for number: UInt64) -> ManagedObjectID? {
    let place = places[Int64(bitPattern: number)]
    return place == 0 ? nil : ids[Int(place) - 1]
  }

  mutating func set(_ id: ManagedObjectID, for number: UInt64) {
    ids.append(id)
    places[Int64(bitPattern: number)] = UInt(ids.count)
  }
}
