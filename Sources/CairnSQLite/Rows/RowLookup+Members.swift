import CairnModel
import CairnSQL
import CairnStore

// The members of to-many relationships: their IDs, or their rows as well.

extension RowLookup {
  /// The members of a to-many relationship of each owner.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    var result = [[ManagedObjectID]](repeating: [], count: owners.count)
    let isSorted = try readMembers(of: relationship, owners: owners, rowLimit: 0) {
      result[$1].append($0.objectID)
    }
    if !isSorted { Self.sort(&result, by: \.self) }
    return result
  }

  /// The same with their rows, for the first `rowLimit` of them.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]] {
    var result = [[MemberRow]](repeating: [], count: owners.count)
    let isSorted = try readMembers(of: relationship, owners: owners, rowLimit: rowLimit) {
      result[$1].append($0)
    }
    if !isSorted { Self.sort(&result, by: \.objectID) }
    return result
  }

  /// Puts members in the order of their keys.
  private static func sort<Member>(
    _ lists: inout [[Member]], by id: KeyPath<Member, ManagedObjectID>
  ) {
    for index in lists.indices {
      lists[index].sort { ($0[keyPath: id].rowKey ?? 0) < ($1[keyPath: id].rowKey ?? 0) }
    }
  }

  /// Reads members with the places of their owners.
  ///
  /// - Returns: Whether those of each owner came in the relationship's order; if not, the order of
  ///   their keys is theirs.
  private func readMembers(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int,
    _ take: (_ member: MemberRow, _ position: Int) -> Void
  ) throws -> Bool {
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return true }
    let query = schema.memberQueries(of: schema.entity(entity))[index]
    guard !query.isEmpty, let destination = relationship.destinationEntity else { return true }
    var positions = KeyPositions()
    for (position, owner) in owners.enumerated() {
      if let key = owner.rowKey { positions.add(key, position) }
    }
    if positions.count == 0 { return true }
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
    while try statement.step() {
      let owner = statement.integer(0)
      guard
        let member = member(statement, shape, possible: possible.subtree, withRow: rowsLeft > 0)
      else { continue }
      rowsLeft -= 1
      if query.leavesOrderToIndex { order.note(statement.integer(2), of: owner) }
      if isSingle {
        take(member, positions.pairs[0].position)
      } else {
        for position in positions.positions(of: owner) { take(member, position) }
      }
    }
    return order.isKept
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
