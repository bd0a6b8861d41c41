import CairnModel
import CairnStore

/// The addresses of one context's objects by their IDs, for ``ObjectRegistry``, which guards them.
///
/// Methods that give objects give references: those are to be given up outside the registry's lock,
/// because an object that goes takes itself out.
struct ObjectTables {
  /// The objects of one store and one entity tree.
  struct Table {
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

  /// All but the one in use, whose place has an empty one.
  private var tables: [Table] = []
  /// Places in ``tables`` by number of the root entity; seldom more than one store each.
  private var places: [[Int]] = []
  /// The table in use, taken out of ``tables``.
  ///
  /// What lies here is asked without being retained for each question, and rows come in runs of
  /// one entity.
  var table = Table(store: nil)
  private var place: Int?
  /// What was asked last; its table is the one in use.
  private var recentEntity: EntityDescription?
  private var recentStore: StoreIdentity?
  /// The home of IDs of rows in the table in use that was asked last.
  private var recentHome: ObjectHome?
  /// The row that was asked for last.
  private var recentKey: Int64 = 0
  /// New objects, by the numbers of their temporary IDs.
  var temporary = RowTable()

  /// All addresses.
  var all: [UInt] {
    var addresses = temporary.all
    for table in tables + [table] {
      addresses += table.rows.all
      addresses += table.references.values
    }
    return addresses
  }

  /// How many addresses there are.
  var count: Int {
    tables.reduce(temporary.count + table.rows.count + table.references.count) {
      $0 + $1.rows.count + $1.references.count
    }
  }

  /// The address of the object with an ID, 0 when there is none.
  @inline(__always)
  mutating func address(of id: ManagedObjectID) -> UInt {
    // Most often it has the home of the one before.
    if let recentHome, let key = id.rowKey(in: recentHome) {
      let isNext = key == recentKey &+ 1
      recentKey = key
      if isNext { fetchAhead(from: key) }
      return table.rows[key]
    }
    return findAddress(of: id)
  }

  /// Asks for the memory of objects whose rows follow one, and of their IDs.
  ///
  /// Most often rows are asked for in their order, and a reference that is counted waits for the
  /// object's memory: that took more than half of a question among 100,000 objects.
  @inline(__always)
  private func fetchAhead(from key: Int64) {
    // What was asked for four rows ahead has arrived when it is looked into two rows ahead.
    ObjectAddress.fetchAhead(table.rows[key &+ 4])
    ObjectAddress.fetchIDAhead(table.rows[key &+ 2])
  }

  @inline(never)
  private mutating func findAddress(of id: ManagedObjectID) -> UInt {
    if case .temporary(let number) = id.key { return temporary[Int64(bitPattern: number)] }
    turn(to: id)
    if let key = id.rowKey {
      recentHome = id.rowHome
      return table.rows[key]
    }
    guard case .reference(let text) = id.key else { return 0 }
    return table.references[text] ?? 0
  }

  /// Gives an ID its object's address, or with 0 none any more.
  mutating func set(_ address: UInt, for id: ManagedObjectID) {
    if case .temporary(let number) = id.key {
      temporary[Int64(bitPattern: number)] = address
      return
    }
    turn(to: id)
    if let key = id.rowKey {
      table.rows[key] = address
    } else if case .reference(let text) = id.key {
      table.references[text] = address == 0 ? nil : address
    }
  }

  /// Gives a row key of the table in use its object's address, unless it has an object, which is
  /// given then.
  mutating func add(_ address: UInt, for key: Int64) -> ManagedObject? {
    let known = table.rows.add(address, for: key)
    if known == 0 { return nil }
    if let object = ObjectAddress.object(at: known) { return object }
    // One that is being freed.
    table.rows[key] = address
    return nil
  }

  /// Whether there is any object in the table that an ID belongs to, which is in use then.
  mutating func hasObjects(like id: ManagedObjectID) -> Bool {
    turn(to: id)
    return !table.isEmpty
  }

  // MARK: The table in use

  /// Makes the table that an ID belongs to the one in use.
  @inline(__always)
  mutating func turn(to id: ManagedObjectID) {
    if recentEntity !== id.entity || !id.isIn(recentStore) {
      turnAway(to: id.entity, in: id.storeIdentity)
    }
  }

  @inline(__always)
  mutating func turn(to entity: EntityDescription, in store: StoreIdentity?) {
    if recentEntity !== entity || recentStore !== store { turnAway(to: entity, in: store) }
  }

  @inline(never)
  private mutating func turnAway(to entity: EntityDescription, in store: StoreIdentity?) {
    recentEntity = entity
    recentStore = store
    recentHome = nil
    if let place { swap(&table, &tables[place]) }
    let root = entity.layout?.rootNumber ?? 0
    while places.count <= root { places.append([]) }
    let place: Int
    if let known = places[root].first(where: { tables[$0].store === store }) {
      place = known
    } else {
      place = tables.count
      tables.append(Table(store: store))
      places[root].append(place)
    }
    swap(&table, &tables[place])
    self.place = place
  }
}
