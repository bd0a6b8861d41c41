import CairnModel
import CairnStore
import Foundation

/// Translates between rows of one store and values that all stores know.
struct RowReading {
  let ledger: Ledger
  /// The slots with values that are none of their attributes' types, by object, of the rows that were prepared:
  /// what the store makes of them when it reads a row is no writer's value.
  private var strays: [ManagedObjectID: Set<Int>] = [:]

  init(ledger: Ledger) { self.ledger = ledger }

  /// Makes the record IDs of everything the rows refer to available at once, and looks which values are none.
  mutating func prepare(_ rows: [RowSnapshot]) throws {
    if let store = ledger.store.capabilities.rows, !rows.isEmpty {
      strays = try store.strayValues(in: rows.map(\.objectID))
    }
    var keys: [SidecarKey] = []
    for row in rows {
      guard let plan = plan(of: row.objectID) else { continue }
      for column in plan.columns where column.relationship != nil {
        if case .object(let target) = row[column.slot], let key = SyncKey.object(target) {
          keys.append(key)
        }
      }
    }
    try ledger.prefetch(keys)
  }

  func plan(of object: ManagedObjectID) -> SyncSchema.EntityPlan? {
    object.entity.name.flatMap { ledger.schema.entities[$0] }
  }

  /// The travelling properties of a row that hold what is no value of theirs, of the rows that were prepared.
  func strayNames(of object: ManagedObjectID) -> Set<String> {
    guard let slots = strays[object], let plan = plan(of: object) else { return [] }
    return Set(plan.columns.filter { slots.contains($0.slot) }.map(\.name))
  }

  /// The values of a row's travelling columns.
  ///
  /// - Parameters:
  ///   - stray: What stands for a value that is none of its attribute's type; nil for a row that tells nothing
  ///     of it.
  ///   - unknown: Called with each referenced object that has no record ID; such a reference reads as null.
  func values(
    of row: RowSnapshot, stray: WireValue? = nil, unknown: (ManagedObjectID) -> Void = { _ in }
  ) throws -> RowValues {
    guard let plan = plan(of: row.objectID) else { return RowValues(.none, []) }
    guard let slots = strays[row.objectID] else {
      return RowValues(
        plan.names, try plan.slots.map { try wireValue(row[$0], unknown: unknown) })
    }
    return RowValues(
      plan.names,
      try plan.slots.map {
        try slots.contains($0) ? stray : wireValue(row[$0], unknown: unknown)
      })
  }

  private func wireValue(
    _ value: AttributeValue, unknown: (ManagedObjectID) -> Void
  ) throws -> WireValue {
    if let attribute = WireValue(stored: value) { return attribute }
    guard case .object(let target) = value, let id = try ledger.recordID(for: target) else {
      if case .object(let target) = value { unknown(target) }
      return .null
    }
    return .reference(id)
  }

  /// The stored form of an attribute's value; nil for references.
  static func attributeValue(_ value: WireValue) -> AttributeValue? {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .float(let number): return .float(number)
    case .double(let number): return .double(number)
    case .decimal(let number): return .decimal(number)
    case .string(let text): return .string(text)
    case .date(let date): return .date(date)
    case .data(let data): return .data(data)
    case .uuid(let uuid): return .uuid(uuid)
    case .url(let url): return .url(url)
    case .reference: return nil
    }
  }
}

extension WireValue {
  /// An attribute's stored value; nil for a reference.
  init?(stored value: AttributeValue) {
    switch value {
    case .null: self = .null
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    case .float(let number): self = .float(number)
    case .double(let number): self = .double(number)
    case .decimal(let number): self = .decimal(number)
    case .string(let text): self = .string(text)
    case .date(let date): self = .date(date)
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .uuid(uuid)
    case .url(let url): self = .url(url)
    case .object: return nil
    }
  }
}
