import CairnModel
import CairnSQL
import CairnStore

/// Deletes what a fetch finds, with the delete rules of its relationships.
struct BatchDeletion {
  let transaction: BatchTransaction
  private var lookup: RowLookup { transaction.lookup }

  init(transaction: BatchTransaction) {
    self.transaction = transaction
  }

  func delete(_ request: StoreFetchRequest) throws -> [ManagedObjectID] {
    let rows = try withCascades(try transaction.matches(request))
    let ids = Set(rows.map(\.objectID))
    for row in rows { try checkDenied(row, deleted: ids) }
    for row in rows { try nullify(row, deleted: ids) }
    for row in rows {
      let entity = lookup.schema.entity(row.objectID.entity)
      _ = try transaction.rows.delete(row.objectID, entity: entity, expected: nil)
      try transaction.record(.delete, entity, row)
    }
    return rows.map(\.objectID)
  }

  /// The rows and everything that cascades from them.
  private func withCascades(_ rows: [RowSnapshot]) throws -> [RowSnapshot] {
    var result = rows
    var known = Set(rows.map(\.objectID))
    var index = 0
    while index < result.count {
      let row = result[index]
      index += 1
      let related = try relationships(of: row).filter { $0.deleteRule == .cascade }
        .flatMap { try members(of: $0, row) }
      let new = related.filter { known.insert($0).inserted }
      result += try lookup.snapshots(for: new).compactMap { $0 }
    }
    return result
  }

  private func relationships(of row: RowSnapshot) -> [RelationshipDescription] {
    let layout: EntityLayout = row.objectID.entity.layout
    return layout.slots.compactMap(\.relationship).filter { !$0.isTransient } + layout.toManys
  }

  private func members(
    of relationship: RelationshipDescription, _ row: RowSnapshot
  ) throws -> [ManagedObjectID] {
    if relationship.isToMany {
      return try lookup.members(of: relationship, owners: [row.objectID])[0]
    }
    let layout: EntityLayout = row.objectID.entity.layout
    guard let slot = layout.slotByName[relationship.name], case .object(let id) = row[slot] else {
      return []
    }
    return [id]
  }

  private func checkDenied(_ row: RowSnapshot, deleted: Set<ManagedObjectID>) throws {
    for relationship in relationships(of: row) where relationship.deleteRule == .deny {
      guard try members(of: relationship, row).allSatisfy(deleted.contains) else {
        throw CoreDataError(
          .validationRelationshipDeniedDelete,
          "\(row.objectID) cannot be deleted while its \(relationship.name) has members; nothing "
            + "was deleted.")
      }
    }
  }

  /// Takes the deleted object out of the to-one keys of objects that stay.
  private func nullify(_ row: RowSnapshot, deleted: Set<ManagedObjectID>) throws {
    for relationship in relationships(of: row) where relationship.deleteRule == .nullify {
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      let staying = try members(of: relationship, row).filter { !deleted.contains($0) }
      for member in try lookup.snapshots(for: staying).compactMap({ $0 }) {
        let entity = lookup.schema.entity(member.objectID.entity)
        guard let slot = entity.layout.slotByName[inverse.name],
          member[slot] == .object(row.objectID)
        else { continue }
        var values = member.values
        values[slot] = .null
        let changed = RowSnapshot.make(
          objectID: member.objectID, version: member.version, values: values)
        _ = try transaction.rows.update(
          changed, slots: [slot], entity: entity, to: member.version + 1, expected: nil)
        try transaction.record(.update, entity, changed, slots: [slot])
      }
    }
  }
}
