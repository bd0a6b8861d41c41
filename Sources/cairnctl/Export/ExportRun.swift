// Writes the rows of an export.
import CairnControl

/// Reads the records of a plan and hands their rows over, first rows first.
struct ExportRun {
  /// Reads records batch by batch, from the daemon or from a file.
  typealias Fetch = (
    _ fetch: ExportRecords.Fetch, _ each: ([[String: JSONValue]]) throws -> Void
  ) throws -> Void

  private let plan: ExportPlan
  private let fetch: Fetch
  private let predicate: String?
  private var keys: [String: ExportKeys] = [:]
  /// How many references name a record by its ID, by the entity that they refer to.
  private(set) var referencesByID: [String: Int] = [:]

  init(_ plan: ExportPlan, where predicate: String?, fetch: @escaping Fetch) {
    self.plan = plan
    self.predicate = predicate
    self.fetch = fetch
  }

  /// What a run of the same plan reads, in its order.
  static func fetches(
    of plan: ExportPlan, where predicate: String?, _ model: ModelSummary, isWhole: Bool
  ) throws -> [ExportRecords.Fetch] {
    var fetches: [ExportRecords.Fetch] = []
    // It does not depend on rows.
    var rehearsal = ExportRun(plan, where: predicate) { fetch, _ in fetches.append(fetch) }
    try rehearsal.run(model, isWhole: isWhole) { _, _ in }
    return fetches
  }

  /// Hands over every row with its entity.
  ///
  /// - Parameter isWhole: Whether each record is one row, with all its relationships.
  mutating func run(
    _ model: ModelSummary, isWhole: Bool, each: (EntitySummary, [String: JSONValue]) throws -> Void
  ) throws {
    for step in plan.steps {
      for relationship in step.references + step.later
      where keys[relationship.destination] == nil {
        keys[relationship.destination] = try ExportKeys(
          of: try model.entity(named: relationship.destination), plan: plan, fetch: fetch)
      }
    }
    for step in plan.steps {
      try write(
        step, step.attributes, step.references + (isWhole ? step.later : []), isSecond: false, each)
    }
    if isWhole { return }
    for step in plan.steps where !step.later.isEmpty {
      try write(step, step.key ?? [], step.later, isSecond: true, each)
    }
  }

  private mutating func write(
    _ step: ExportPlan.Step, _ attributes: [String], _ relationships: [RelationshipSummary],
    isSecond: Bool, _ each: (EntitySummary, [String: JSONValue]) throws -> Void
  ) throws {
    let wanted = ExportRecords.Fetch(
      // Equal stores make equal files.
      entity: step.entity.name, predicate: predicate, sort: step.key,
      properties: attributes + relationships.map(\.name))
    var byID: [String: Int] = [:]
    try fetch(wanted) { rows in
      // A fetch answers with the records of subentities too; those have steps of their own.
      for row in rows where row["entity"]?.stringValue == step.entity.name {
        var values = row.filter { attributes.contains($0.key) }
        for relationship in relationships {
          values[relationship.name] = reference(row[relationship.name], relationship) {
            byID[relationship.destination, default: 0] += 1
          }
        }
        // What has no member yet needs no second row.
        if isSecond, relationships.allSatisfy({ Self.isEmpty(values[$0.name]) }) { continue }
        try each(step.entity, values)
      }
    }
    referencesByID.merge(byID, uniquingKeysWith: +)
  }

  private static func isEmpty(_ value: JSONValue?) -> Bool {
    value == nil || value == .null || value == []
  }

  private func reference(
    _ value: JSONValue?, _ relationship: RelationshipSummary, onID: () -> Void
  ) -> JSONValue {
    switch value {
    case .string(let id)?:
      if let key = keys[relationship.destination]?[id] { return key }
      onID()
      return .string(keys[relationship.destination]?.record(id) ?? id)
    case .array(let members)?:
      let members = members.map { reference($0, relationship, onID: onID) }
      return .array(relationship.isOrdered ? members : members.sorted { $0.text < $1.text })
    case .null?, .bool?, .integer?, .number?, .object?, nil: return .null
    }
  }
}
