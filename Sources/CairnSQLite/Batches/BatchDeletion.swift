import CairnModel
import CairnSQL
import CairnStore

/// Deletes what a fetch finds, with the delete rules of its relationships: a few statements for
/// each entity, however many rows.
struct BatchDeletion {
  let transaction: BatchTransaction
  private var lookup: RowLookup { transaction.lookup }

  init(transaction: BatchTransaction) {
    self.transaction = transaction
  }

  func delete(_ request: StoreFetchRequest) throws -> BatchOutcome {
    let rows = try withCascades(try transaction.matches(request))
    let ids = Set(rows.map(\.objectID))
    let groups = Dictionary(grouping: rows) { lookup.schema.entity($0.objectID.entity).number }
      .sorted { $0.key < $1.key }.map(\.value)
    for group in groups { try checkDenied(group, deleted: ids) }
    var nullified: [ManagedObjectID] = []
    for group in groups { nullified += try nullify(group, deleted: ids) }
    for group in groups {
      let entity = lookup.schema.entity(group[0].objectID.entity)
      try transaction.rows.delete(keys: group.compactMap(\.objectID.rowKey), entity: entity)
      for row in group { try transaction.record(.delete, entity, row) }
    }
    return BatchOutcome(updated: nullified, deleted: rows.map(\.objectID))
  }

  /// The rows and everything that cascades from them.
  private func withCascades(_ rows: [RowSnapshot]) throws -> [RowSnapshot] {
    var result = rows
    var known = Set(rows.map(\.objectID))
    var level = rows
    while !level.isEmpty {
      var related: [ManagedObjectID] = []
      for (_, group) in Dictionary(grouping: level, by: { ObjectIdentifier($0.objectID.entity) }) {
        for relationship in relationships(of: group[0]) where relationship.deleteRule == .cascade {
          related += try members(of: relationship, group).flatMap { $0 }
        }
      }
      let new = related.filter { known.insert($0).inserted }
      level = try lookup.snapshots(for: new).compactMap { $0 }
      result += level
    }
    return result
  }

  private func relationships(of row: RowSnapshot) -> [RelationshipDescription] {
    let layout: EntityLayout = row.objectID.entity.layout
    return layout.slots.compactMap(\.relationship).filter { !$0.isTransient } + layout.toManys
  }

  /// The members of a relationship of rows of one entity, in the order of the rows.
  private func members(
    of relationship: RelationshipDescription, _ rows: [RowSnapshot]
  ) throws -> [[ManagedObjectID]] {
    if relationship.isToMany {
      return try lookup.members(of: relationship, owners: rows.map(\.objectID))
    }
    return rows.map { row in
      let layout: EntityLayout = row.objectID.entity.layout
      guard let slot = layout.slotByName[relationship.name], case .object(let id) = row[slot] else {
        return []
      }
      return [id]
    }
  }

  private func checkDenied(_ rows: [RowSnapshot], deleted: Set<ManagedObjectID>) throws {
    for relationship in relationships(of: rows[0]) where relationship.deleteRule == .deny {
      for (row, members) in zip(rows, try members(of: relationship, rows))
      where !members.allSatisfy(deleted.contains) {
        throw CoreDataError(
          .validationRelationshipDeniedDelete,
          "\(row.objectID) cannot be deleted while its \(relationship.name) has members; nothing "
            + "was deleted.")
      }
    }
  }

  /// Takes deleted objects out of the to-one keys of objects that stay.
  ///
  /// - Returns: The objects that were changed.
  private func nullify(
    _ rows: [RowSnapshot], deleted: Set<ManagedObjectID>
  ) throws -> [ManagedObjectID] {
    var changed: [ManagedObjectID] = []
    for relationship in relationships(of: rows[0]) where relationship.deleteRule == .nullify {
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      let staying = try members(of: relationship, rows).flatMap { $0 }
        .filter { !deleted.contains($0) }
      for member in try lookup.snapshots(for: staying).compactMap({ $0 }) {
        let entity = lookup.schema.entity(member.objectID.entity)
        guard let slot = entity.layout.slotByName[inverse.name],
          case .object(let owner) = member[slot], deleted.contains(owner)
        else { continue }
        try transaction.change(member, to: [slot: .null])
        changed.append(member.objectID)
      }
    }
    return changed
  }
}
