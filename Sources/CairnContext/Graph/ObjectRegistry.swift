import CRuntime
import CairnModel
import Synchronization

/// Which object stands for which ID in one context: at most one for each.
///
/// Objects are not kept alive by the registry; an object takes itself out when it goes. The last
/// reference to an object may be given up on any thread, so the tables are guarded by a mutex, and
/// a lookup hands out an object only if it is not being freed at that moment.
// Unchecked: the tables are inside `state`; `context` is written once by the context's
// initialiser and once by its `deinit`, when nobody can use the context any more.
final class ObjectRegistry: @unchecked Sendable {
  /// The objects of one store and one entity tree.
  private struct Table {
    let store: StoreIdentity?
    var rows = RowTable()
    var references: [String: UInt] = [:]
  }

  private struct State {
    /// By number of the root entity; seldom more than one store each.
    var tables: [[Table]] = []
    /// Which table was asked last, and for what: rows come in runs of one entity.
    var recentEntity: EntityDescription?
    var recentStore: StoreIdentity?
    var recentPlace = (root: 0, index: 0)
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

  /// All registered objects.
  var objects: [ManagedObject] {
    state.withLock { state in
      var addresses = state.temporary.all
      for tables in state.tables {
        for table in tables {
          addresses += table.rows.all
          addresses += table.references.values
        }
      }
      return addresses.compactMap(Self.retained)
    }
  }

  // MARK: Changes

  func add(_ object: ManagedObject) {
    let address = Self.address(of: object)
    let id = object.objectID
    state.withLock { Self.set(address, for: id, in: &$0) }
  }

  /// Forgets the object, unless another one has taken its place.
  func remove(_ object: ManagedObject, id: ManagedObjectID, givesUpRow: Bool = false) {
    let address = Self.address(of: object)
    state.withLock { state in
      if Self.address(of: id, in: &state) == address { Self.set(0, for: id, in: &state) }
      if givesUpRow { state.abandonedRows.append(id) }
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

  private static func address(of object: ManagedObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  private static func address(of id: ManagedObjectID, in state: inout State) -> UInt {
    switch id.key {
    case .temporary(let number):
      return state.temporary[Int64(bitPattern: number)]
    case .row(let key):
      return withTable(of: id, in: &state) { $0.rows[key] }
    case .reference(let text):
      return withTable(of: id, in: &state) { $0.references[text] ?? 0 }
    }
  }

  private static func set(
    _ address: UInt, for id: ManagedObjectID, in state: inout State
  ) {
    switch id.key {
    case .temporary(let number):
      state.temporary[Int64(bitPattern: number)] = address
    case .row(let key):
      withTable(of: id, in: &state) { $0.rows[key] = address }
    case .reference(let text):
      withTable(of: id, in: &state) { $0.references[text] = address == 0 ? nil : address }
    }
  }

  private static func withTable<Result>(
    of id: ManagedObjectID, in state: inout State, _ body: (inout Table) -> Result
  ) -> Result {
    if state.recentEntity === id.entity, state.recentStore === id.storeIdentity {
      return body(&state.tables[state.recentPlace.root][state.recentPlace.index])
    }
    let root = id.entity.layout?.rootNumber ?? 0
    state.recentEntity = id.entity
    state.recentStore = id.storeIdentity
    while state.tables.count <= root { state.tables.append([]) }
    for index in state.tables[root].indices
    where state.tables[root][index].store === id.storeIdentity {
      state.recentPlace = (root, index)
      return body(&state.tables[root][index])
    }
    state.recentPlace = (root, state.tables[root].count)
    state.tables[root].append(Table(store: id.storeIdentity))
    return body(&state.tables[root][state.tables[root].count - 1])
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
