/// Adds up what a planned pass does, with the first examples of each kind.
struct PlanTally {
  let limit: Int
  /// From the destination's names to those of the local store; nil for one version of the model.
  let names: SchemaTranslation?
  private(set) var counts: [String: EntityPlanCounts] = [:]
  private(set) var records: [PlannedRecord] = []
  var links = 0
  private(set) var conflicts: [Conflict] = []
  private(set) var conflictCount = 0
  private(set) var quarantined: [PlannedQuarantine] = []
  private(set) var quarantinedCount = 0

  init(limit: Int, names: SchemaTranslation?) {
    self.limit = limit
    self.names = names
  }

  /// - Parameters:
  ///   - before: The values of the row; nil when there is none.
  ///   - survivor: The record that takes the place of this one.
  ///   - isIncoming: Whether the source told of the record.
  ///   - columns: The names of the entity's columns.
  mutating func take(
    _ action: ImportPlan.RowAction, before: Known.Row?, survivor: RecordID?, isIncoming: Bool,
    columns: [String]
  ) {
    var after: [String: WireValue] = [:]
    for item in action.values where columns.indices.contains(item.column) {
      after[columns[item.column]] = item.value
    }
    switch action.kind {
    case .insert:
      add(action, .insert, changes([:], after)) { $0.inserted += 1 }
    case .update:
      let properties = changes(before?.byName.filter { after[$0.key] != nil } ?? [:], after)
      add(action, .update, properties) { $0.updated += 1 }
    case .delete:
      let properties = changes(before?.byName ?? [:], [:])
      if let survivor {
        add(action, .unite(survivor), properties) { $0.deleted += 1 }
      } else if isIncoming {
        add(action, .delete, properties) { $0.deleted += 1 }
      } else {
        add(action, .cascade, properties) { $0.cascaded += 1 }
      }
    }

    func changes(
      _ before: [String: WireValue], _ after: [String: WireValue]
    ) -> [PlannedProperty] {
      Set(before.keys).union(after.keys).sorted().compactMap { name in
        let (was, will) = (before[name], after[name])
        if let was, let will, was.isSame(as: will) { return nil }
        return PlannedProperty(
          name: names?.property(name, of: action.entity) ?? name, before: was, after: will)
      }
    }
  }

  mutating func hold(_ entry: QuarantineEntry) {
    let content = names?.content(entry.content) ?? entry.content
    switch content {
    case .record(let state): hold(.record(state.id), state.entity, entry.reason, entry.message)
    case .link(let link):
      hold(
        .link(link.key), String(link.key.relationship.prefix { $0 != "." }), entry.reason,
        entry.message)
    }
  }

  /// A record that validation refuses.
  mutating func refuse(_ action: ImportPlan.RowAction, _ message: String) {
    hold(.record(action.id), names?.entity(action.entity) ?? action.entity, .validation, message)
  }

  private mutating func hold(
    _ subject: QuarantineID.Subject, _ entity: String, _ reason: QuarantineEntry.Reason,
    _ message: String
  ) {
    quarantinedCount += 1
    guard quarantined.count < limit else { return }
    quarantined.append(
      PlannedQuarantine(subject: subject, entity: entity, reason: reason, message: message))
  }

  mutating func note(_ conflict: Conflict) {
    conflictCount += 1
    guard conflicts.count < limit else { return }
    let entry = JournalEntry(conflict: conflict, time: 0)
    conflicts.append(names.map { entry.translated(by: $0).conflict } ?? conflict)
  }

  private mutating func add(
    _ action: ImportPlan.RowAction, _ kind: PlannedRecord.Kind, _ properties: [PlannedProperty],
    _ count: (inout EntityPlanCounts) -> Void
  ) {
    let name = names?.entity(action.entity) ?? action.entity
    count(&counts[name, default: EntityPlanCounts(entity: name)])
    guard records.count < limit else { return }
    records.append(
      PlannedRecord(record: action.id, entity: name, kind: kind, properties: properties))
  }
}
