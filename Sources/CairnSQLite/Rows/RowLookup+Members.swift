import CairnModel
import CairnSQL
import CairnStore

// The members of to-many relationships: their IDs, or their rows as well.

extension RowLookup {
  /// The members of a to-many relationship of each owner.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try memberRows(of: relationship, owners: owners, rowLimit: 0).map { $0.map(\.objectID) }
  }

  /// The same with their rows, for the first `rowLimit` of them.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]] {
    var result = MemberLists(count: owners.count)
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return result.lists }
    let query = schema.memberQueries(of: schema.entity(entity))[index]
    guard !query.isEmpty, let destination = relationship.destinationEntity else {
      return result.lists
    }
    var positions = KeyPositions()
    for (position, owner) in owners.enumerated() {
      if let key = owner.rowKey { positions.add(key, position) }
    }
    if positions.count == 0 { return result.lists }
    positions.sort()
    let isSingle = positions.count == 1
    let statement = try connection.statement(
      rowLimit > 0
        ? (isSingle ? query.singleRows : query.manyRows) : (isSingle ? query.single : query.many))
    defer { statement.reset() }
    if isSingle {
      statement.bind(positions.pairs[0].key, at: 1)
    } else {
      positions.bind(to: statement, at: 1)
    }
    let possible = schema.entity(destination)
    let shape = schema.shape(possible, includingSubentities: true)
    var order = MemberOrder()
    var rowsLeft = rowLimit
    var owner: Int64?
    while try statement.step() {
      let next = statement.integer(0)
      if next != owner {
        result.begin(positions.places(of: next), positions)
        owner = next
      }
      guard
        let member = member(statement, shape, possible: possible.subtree, withRow: rowsLeft > 0)
      else { continue }
      rowsLeft -= 1
      if query.leavesOrderToIndex { order.note(statement.integer(2), of: next) }
      result.add(member)
    }
    result.finish()
    if !order.isKept { result.sortByKey() }
    return result.lists
  }

  /// The member in the current row; nil for one of an entity that the relationship does not lead
  /// to, which only a damaged file has.
  private func member(
    _ statement: SQLiteStatement, _ shape: SQLRowShape, possible: ClosedRange<Int>, withRow: Bool
  ) -> MemberRow? {
    if withRow {
      return reader.snapshot(statement, shape: shape, first: 1).map {
        MemberRow(objectID: $0.objectID, row: $0)
      }
    }
    let number = Int(truncatingIfNeeded: statement.integer(1))
    guard possible.contains(number),
      let id = reader.objectID(entity: number, key: statement.integer(2))
    else { return nil }
    return MemberRow(objectID: id, row: nil)
  }
}

/// Members in lists by the positions of their owners, which come in runs of one owner.
private struct MemberLists {
  private(set) var lists: [[MemberRow]]
  /// Members of the present owner that are in no list yet.
  private var run: [MemberRow] = []
  /// Where the present owner was asked for.
  private var first: Int?
  private var others: [Int] = []

  init(count: Int) { lists = [[MemberRow]](repeating: [], count: count) }

  /// What is added from now on belongs to another owner.
  mutating func begin(_ places: Range<Int>, _ positions: KeyPositions) {
    finish()
    first = places.first.map { positions.pairs[$0].position }
    others = places.count > 1 ? places.dropFirst().map { positions.pairs[$0].position } : []
  }

  mutating func add(_ member: MemberRow) { run.append(member) }

  /// Puts what was added where it belongs.
  mutating func finish() {
    guard let first, !run.isEmpty else { return }
    for position in others { lists[position] += run }
    if lists[first].isEmpty {
      let count = run.count
      swap(&lists[first], &run)
      // The next owner has about as many.
      run.reserveCapacity(count)
    } else {
      lists[first] += run
      run.removeAll(keepingCapacity: true)
    }
  }

  /// Puts the members of each owner in the order of their keys.
  mutating func sortByKey() {
    for index in lists.indices {
      lists[index].sort { ($0.objectID.rowKey ?? 0) < ($1.objectID.rowKey ?? 0) }
    }
  }
}

/// Whether each owner's members come in the order of their keys, as they do when the owners come one
/// after the other, by an index, and when all members come in the order of their keys.
private struct MemberOrder {
  private var keysRise = true
  private var ownersRise = true
  private var owner = Int64.min
  private var key = Int64.min

  var isKept: Bool { keysRise || ownersRise }

  mutating func note(_ key: Int64, of owner: Int64) {
    if key < self.key { keysRise = false }
    if owner < self.owner || (owner == self.owner && key < self.key) { ownersRise = false }
    (self.owner, self.key) = (owner, key)
  }
}
