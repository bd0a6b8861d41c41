import CairnModel
import CairnSQL
import CairnStore

// What deleting the members of relationships takes: their keys and versions.

extension RowLookup {
  /// The members of a to-many relationship of any of the owners, with their versions, in no
  /// particular order.
  ///
  /// Nil for a relationship whose links are rows of their own.
  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion]? {
    guard let query = memberQuery(of: relationship)?.versions else { return nil }
    var result: [MemberVersion] = []
    try forEachMember(of: relationship, owners.compactMap(\.rowKey), query) {
      entity, statement, key in
      result.append(
        MemberVersion(
          objectID: reader.objectID(entity, key: statement.integer(key)),
          version: statement.integer(key + 1)))
    }
    return result
  }

  /// The keys of the members of a to-many relationship of any of the owners, in runs of one entity
  /// and otherwise in no particular order.
  ///
  /// Nil for a relationship whose links are rows of their own.
  func memberKeys(
    of relationship: RelationshipDescription, owners: [Int64]
  ) throws -> [EntityRows]? {
    guard let query = memberQuery(of: relationship)?.keys else { return nil }
    var result: [EntityRows] = []
    try forEachMember(of: relationship, owners, query) { entity, statement, key in
      result.add(statement.integer(key), of: entity)
    }
    return result
  }

  private func memberQuery(of relationship: RelationshipDescription) -> MemberQuery? {
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return nil }
    return schema.memberQueries(of: schema.entity(entity))[index]
  }

  /// - Parameter take: Called with the member's entity and the column of its key.
  @inline(__always)
  private func forEachMember(
    of relationship: RelationshipDescription, _ owners: [Int64], _ query: VersionQuery,
    _ take: (SQLEntity, SQLiteStatement, Int32) -> Void
  ) throws {
    guard let destination = relationship.destinationEntity else { return }
    let possible = schema.entity(destination).subtree
    // Rows come in runs of one entity.
    var recent: (number: Int, entity: SQLEntity)?
    for owners in KeyRuns(owners).portions {
      let statement = try connection.statement(
        "\(query.select) WHERE \(owners.condition(on: query.owner))")
      defer { statement.reset() }
      owners.bind(to: statement)
      if let only = query.only {
        while try statement.step() { take(only, statement, 0) }
        continue
      }
      while try statement.step() {
        let number = Int(truncatingIfNeeded: statement.integer(0))
        if recent?.number != number {
          // Only a damaged file has a member of an entity that the relationship does not lead to.
          guard possible.contains(number), let entity = schema.entity(number: number) else {
            continue
          }
          recent = (number, entity)
        }
        if let recent { take(recent.entity, statement, 1) }
      }
    }
  }
}

extension SQLiteStore {
  public func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion]? {
    // A subclass may have its own ``members(of:owners:)`` and ``snapshots(for:)``.
    guard Swift.type(of: self) == SQLiteStore.self,
      let destination = relationship.destinationEntity
    else { return nil }
    let schema = try schema
    // History keeps values of deleted rows.
    let keepsValues = schema.entity(destination).subtree.contains { number in
      schema.entity(number: number)?.history.tombstoneSlots.isEmpty == false
    }
    if keepsValues, recordsHistory { return nil }
    return try readBriefly { try $0.memberVersions(of: relationship, owners: owners) }
  }
}
