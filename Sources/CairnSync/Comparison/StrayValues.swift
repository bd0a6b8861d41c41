import CairnModel
import CairnStore

/// Finds the values in a store's rows that are none of their attributes' types.
struct StrayValues {
  let access: StoreAccess
  /// To the names of the local store; nil for one version of the model.
  let translation: SchemaTranslation?

  /// Differences with such values of both stores, instead of what these make different.
  static func told(
    _ differences: [StoreDifference], _ local: StoreAccess, _ replica: StoreAccess,
    _ translation: SchemaTranslation?
  ) throws -> [StoreDifference] {
    let damage =
      try StrayValues(access: local, translation: nil).differences(.damagedLocal)
      + StrayValues(access: replica, translation: translation).differences(.damagedReplica)
    if damage.isEmpty { return differences }
    let places = Set(damage.map { [$0.record?.description, $0.property] })
    return differences.filter { !places.contains([$0.record?.description, $0.property]) } + damage
  }

  /// One for each property of a record that has such a value.
  func differences(_ kind: StoreDifference.Kind) throws -> [StoreDifference] {
    guard let store = access.store.capabilities.rows else { return [] }
    let ledger = try access.ledger()
    var found: [StoreDifference] = []
    for (object, slots) in try store.strayValues(in: nil) {
      guard let entity = object.entity.name, let plan = access.schema.entities[entity],
        let record = try ledger.recordID(for: object)
      else { continue }
      for column in plan.columns where slots.contains(column.slot) {
        found.append(
          StoreDifference(
            kind: kind, record: record, entity: translation?.entity(entity) ?? entity,
            property: translation?.property(column.name, of: entity) ?? column.name,
            row: object.uriRepresentation().absoluteString))
      }
    }
    return found.sorted {
      ($0.record?.description ?? "", $0.property ?? "")
        < ($1.record?.description ?? "", $1.property ?? "")
    }
  }
}
