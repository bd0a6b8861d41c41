// How exported rows name the records that they refer to.
import CairnControl

/// The records of an entity by what tells them apart in every store: the values of a uniqueness constraint,
/// else all their plain values where no other record has the same.
struct ExportKeys {
  private let keys: [String: JSONValue]
  /// The IDs in all stores of records that have no key, or might have none.
  private let records: [String: String]

  /// Types whose values are the same after writing and reading.
  private static let plainTypes: Set = [
    "Integer 16", "Integer 32", "Integer 64", "Boolean", "String", "UUID", "Decimal", "URI",
  ]

  /// Reads the keys of all records of the entity, those of its subentities included.
  init(
    of entity: EntitySummary, plan: ExportPlan, fetch: ExportRun.Fetch
  ) throws {
    let constraint = plan.key(of: entity.name)
    let names =
      constraint
      ?? ExportPlan.attributes(of: entity).filter { Self.plainTypes.contains($0.type) }.map(\.name)
    var keys: [String: JSONValue] = [:]
    var records: [String: String] = [:]
    var owners: [JSONValue: String] = [:]
    let wanted = ExportRecords.Fetch(entity: entity.name, properties: names, records: true)
    try fetch(wanted) { rows in
      for row in rows {
        guard let id = row["id"]?.stringValue else { continue }
        let members = row.filter { names.contains($0.key) }
        let isKeyless = constraint != nil && members.values.contains(.null)
        if constraint == nil || isKeyless { records[id] = row["record"]?.stringValue }
        if isKeyless || names.isEmpty { continue }
        let key = JSONValue.object(members)
        if let other = owners.updateValue(id, forKey: key) {
          keys[other] = nil
        } else {
          keys[id] = key
        }
      }
    }
    self.keys = keys
    self.records = records
  }

  /// The key of a record, nil when nothing but its ID names it.
  subscript(id: String) -> JSONValue? { keys[id] }

  /// The ID in all stores of a record without a key; nil where the file that is read has none.
  func record(_ id: String) -> String? { records[id] }
}
