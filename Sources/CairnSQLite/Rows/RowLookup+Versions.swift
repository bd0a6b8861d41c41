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
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name],
      let destination = relationship.destinationEntity,
      let query = schema.memberQueries(of: schema.entity(entity))[index].versions
    else { return nil }
    let possible = schema.entity(destination).subtree
    var result: [MemberVersion] = []
    // Rows come in runs of one entity.
    var recent: (number: Int, entity: SQLEntity)?
    for owners in KeyRuns(owners.compactMap(\.rowKey)).portions {
      let statement = try connection.statement(
        "\(query.select) WHERE \(owners.condition(on: query.owner))")
      defer { statement.reset() }
      owners.bind(to: statement)
      while try statement.step() {
        let number = Int(truncatingIfNeeded: statement.integer(0))
        if recent?.number != number {
          // Only a damaged file has a member of an entity that the relationship does not lead to.
          guard possible.contains(number), let entity = schema.entity(number: number) else {
            continue
          }
          recent = (number, entity)
        }
        guard let recent else { continue }
        result.append(
          MemberVersion(
            objectID: reader.objectID(recent.entity, key: statement.integer(1)),
            version: statement.integer(2)))
      }
    }
    return result
  }
}

extension SQLiteStore: MemberVersionReading {
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
    if keepsValues, state.withLock({ $0.recordsHistory }) { return nil }
    return try readBriefly { try $0.memberVersions(of: relationship, owners: owners) }
  }
}
