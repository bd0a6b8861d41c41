import CairnModel

/// Decides of a batch of records that the destination has never heard of, as those of a first copy: it inserts all of
/// them as they are, where each is no more than its row, the store has what they refer to, and no other record has
/// their unique values.
///
/// Comes to what ``ImportPlanner`` comes to one by one. A test compares the two.
struct NewRowPlanning {
  private let known: Known
  private let setting: ImportSetting
  private let records: [RecordState]
  private var needs: Set<Lookup> = []
  private var groups: [ImportPlan.NewRows] = []
  private var reading = ClockReading(bits: 0)
  /// The unique values of the records so far.
  private var places: Set<UniquePlace> = []

  /// Of fewer records, and of records of more writes, nothing is won.
  static let least = 16
  private static let mostGroups = 32

  /// - Parameter least: How many records a batch has at least.
  /// - Returns: Nil where the records have to be looked at one by one.
  static func plan(
    _ batch: IncomingBatch, known: Known, setting: ImportSetting, least: Int = Self.least
  ) -> ImportPlanner.Outcome? {
    guard known.hasNoneOfBatch, known.nothingWaits, known.nothingIsHeld, batch.links.isEmpty,
      batch.refused.isEmpty, batch.reconsidered.isEmpty, batch.records.count >= least,
      zip(batch.records, batch.records.dropFirst()).allSatisfy({ $0.id < $1.id })
    else { return nil }
    var planning = NewRowPlanning(known, setting, batch.records)
    for record in batch.records where !planning.take(record) { return nil }
    if !planning.needs.isEmpty { return .needs(planning.needs) }
    var plan = ImportPlan()
    plan.newRows = planning.groups
    plan.newRowsOrigin = batch.source
    plan.reading = planning.reading
    return .plan(plan)
  }

  private init(_ known: Known, _ setting: ImportSetting, _ records: [RecordState]) {
    self.known = known
    self.setting = setting
    self.records = records
  }

  /// - Returns: Whether the record is inserted as it is.
  private mutating func take(_ record: RecordState) -> Bool {
    guard record.deletion == nil, record.survivor == nil, let write = record.registers.onlyWrite,
      write.stamp.clock.milliseconds <= setting.time.limit,
      let plan = setting.schema.entities[record.entity], plan.isAlone, !plan.isExclusive,
      setting.holdable.contains(record.entity),
      let values = record.registers.allValues(in: plan.names)
    else { return false }
    for index in plan.columns.indices {
      guard let target = values[index]?.reference else { continue }
      guard leads(to: target, by: plan.columns[index]) else { return false }
    }
    guard plan.constraints.allSatisfy({ isFree(record, plan.entity, $0) }) else { return false }
    reading = max(reading, write.stamp.clock)
    return add(ImportPlan.NewRow(id: record.id, values: values), record.entity, write)
  }

  /// Whether no other record has the values of a uniqueness constraint, or they have to be looked up for that.
  private mutating func isFree(
    _ record: RecordState, _ entity: EntityDescription, _ constraint: [String]
  ) -> Bool {
    // What it refers to has no other that stands for it.
    guard let place = UniquePlace(of: record, entity, constraint, resolve: { $0 }) else {
      return true
    }
    guard places.insert(place).inserted else { return false }
    guard let holders = known.holders[place] else {
      needs.insert(.holders(place))
      return true
    }
    return holders.isEmpty
  }

  /// Whether a reference can be shown, or has to be looked up for that.
  private mutating func leads(to target: RecordID, by column: SyncSchema.Column) -> Bool {
    guard let destination = column.relationship?.destinationEntity else { return false }
    let name: String
    if let entity = entityInBatch(of: target) {
      name = entity
    } else {
      guard let entry = known.entries[target] else {
        needs.insert(.entry(target))
        return true
      }
      guard let entry, entry.key != nil, entry.deletion == nil, entry.survivor == nil else {
        return false
      }
      name = entry.entity
    }
    return setting.schema.entities[name]?.entity.isKindOf(entity: destination) ?? false
  }

  private func entityInBatch(of id: RecordID) -> String? {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < records.count && records[low].id == id ? records[low].entity : nil
  }

  /// - Returns: False for records of too many writes.
  private mutating func add(
    _ row: ImportPlan.NewRow, _ entity: String, _ write: PropertyWrite
  ) -> Bool {
    if let place = groups.lastIndex(where: { $0.write == write && $0.entity == entity }) {
      groups[place].rows.append(row)
      return true
    }
    guard groups.count < Self.mostGroups else { return false }
    groups.append(.init(entity: entity, write: write, rows: [row]))
    return true
  }
}

extension ImportPlan {
  /// The same with the new rows among all others, one by one.
  var expanded: ImportPlan {
    if newRows.isEmpty { return self }
    var plan = self
    plan.newRows = []
    plan.newRowsOrigin = nil
    for group in newRows {
      var entry = RecordEntry(entity: group.entity, key: nil)
      entry.base = group.write
      for row in group.rows {
        let values = row.values.enumerated().compactMap { place, value in
          value.map { ColumnValue(column: place, value: $0) }
        }
        plan.rows.append(.init(id: row.id, entity: group.entity, kind: .insert, values: values))
        plan.records.append(.init(id: row.id, entry: entry, isNews: true, origin: newRowsOrigin))
      }
    }
    plan.rows.sort { $0.id < $1.id }
    plan.records.sort { $0.id < $1.id }
    return plan
  }
}
