import CairnModel
import CairnStore
import Foundation

/// A store under test and what went wrong with it, with short words for what checks do.
///
/// Used by one check on one thread.
final class StoreProbe {
  private let kind: any StoreKind
  private let options: StoreOptions
  let url: URL?
  let model: ManagedObjectModel
  private(set) var store: PersistentStore
  private(set) var problems: [String] = []

  init(kind: any StoreKind, url: URL?, options: StoreOptions) throws {
    self.kind = kind
    self.url = url
    var dictionary = options.dictionary
    dictionary[StoreOptionKey.historyTracking] = NSNumber(value: true)
    self.options = StoreOptions(dictionary)
    model = ConformanceModel.make()
    try model.prepareForUse()
    store = PersistentStore.make(
      kind.storeClass,
      configuration: StoreConfiguration(
        model: model, configurationName: nil, url: url, options: self.options))
    try store.openStore()
  }

  var keepsFiles: Bool { kind.keepsFiles }
  var kindType: String { kind.type }

  /// Closes the store and opens it again.
  func reopen() throws {
    try store.close()
    store = PersistentStore.make(
      kind.storeClass,
      configuration: StoreConfiguration(
        model: model, configurationName: nil, url: url, options: options))
    try store.openStore()
  }

  /// Another store object at the same place, open.
  func another(_ more: [String: Any] = [:]) throws -> PersistentStore {
    let other = PersistentStore.make(
      kind.storeClass,
      configuration: StoreConfiguration(
        model: model, configurationName: nil, url: url,
        options: StoreOptions(options.dictionary.merging(more) { _, new in new })))
    try other.openStore()
    return other
  }

  // MARK: Judging

  func fail(_ message: String) { problems.append(message) }

  func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }

  func expectEqual<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
    if found != wanted { fail("\(what): expected \(wanted), found \(found)") }
  }

  // MARK: Words for checks

  func entity(_ name: String) throws -> EntityDescription {
    guard let entity = model.entitiesByName[name] else {
      throw ProbeError(description: "no entity \(name)")
    }
    return entity
  }

  func toMany(_ name: String, of entityName: String) throws -> RelationshipDescription {
    guard let found = try entity(entityName).relationshipsByName[name] else {
      throw ProbeError(description: "no relationship \(entityName).\(name)")
    }
    return found
  }

  /// A row that is not in the store, with a new ID.
  func newRow(
    _ entityName: String, _ values: [String: AttributeValue] = [:]
  ) throws -> RowSnapshot {
    let entity = try entity(entityName)
    guard let id = try store.obtainPermanentIDs(for: [entity]).first else {
      throw ProbeError(description: "obtainPermanentIDs gave nothing")
    }
    return try row(id, version: 0, entity.layout.defaultValues, changing: values)
  }

  /// The row with some values changed.
  func changed(_ row: RowSnapshot, _ values: [String: AttributeValue]) throws -> RowSnapshot {
    try self.row(row.objectID, version: row.version, row.values, changing: values)
  }

  private func row(
    _ id: ManagedObjectID, version: Int64, _ old: [AttributeValue],
    changing values: [String: AttributeValue]
  ) throws -> RowSnapshot {
    var all = old
    for (name, value) in values { all[try slot(name, of: id)] = value }
    return .make(objectID: id, version: version, values: all)
  }

  func slot(_ name: String, of id: ManagedObjectID) throws -> Int {
    guard let slot = id.entity.layout.slotByName[name] else {
      throw ProbeError(description: "no slot \(name)")
    }
    return slot
  }

  /// The stored rows after a save that must succeed.
  @discardableResult
  func save(_ fill: (inout SaveChangesRequest) throws -> Void) throws -> [RowSnapshot] {
    let outcome = try attempt(fill)
    guard case .saved(let receipt) = outcome else {
      throw ProbeError(description: "the save should have succeeded, but ended with \(outcome)")
    }
    return receipt.snapshots
  }

  func attempt(_ fill: (inout SaveChangesRequest) throws -> Void) throws -> SaveOutcome {
    var request = SaveChangesRequest()
    try fill(&request)
    return try store.save(request)
  }

  /// Inserts one row and returns it as stored.
  func insert(
    _ entityName: String, _ values: [String: AttributeValue] = [:]
  ) throws -> RowSnapshot {
    let row = try newRow(entityName, values)
    guard let stored = try save({ $0.insertions = [.init(snapshot: row)] }).first else {
      throw ProbeError(description: "the receipt of an insertion has no row")
    }
    return stored
  }

  /// The update that changes some values of a row, as contexts ask for it: with the version that it
  /// leads to.
  func update(
    _ row: RowSnapshot, _ values: [String: AttributeValue], overwrites: Bool = false
  ) throws -> SaveChangesRequest.Update {
    SaveChangesRequest.Update(
      snapshot: try changed(row, values).with(version: row.version &+ 1), basedOn: row.version,
      changedSlots: try values.keys.map { try slot($0, of: row.objectID) }.sorted(),
      overwritesConflicts: overwrites)
  }

  func value(_ name: String, of row: RowSnapshot?) throws -> AttributeValue? {
    guard let row else { return nil }
    return row[try slot(name, of: row.objectID)]
  }

  func stored(_ id: ManagedObjectID) throws -> RowSnapshot? {
    try store.snapshots(for: [id]).first ?? nil
  }

  /// The stored rows that a fetch finds.
  func fetch(
    _ entityName: String, _ fill: (inout StoreFetchRequest) -> Void = { _ in }
  ) throws -> [RowSnapshot] {
    var request = StoreFetchRequest(entity: try entity(entityName))
    fill(&request)
    switch try store.fetch(request) {
    case .snapshots(let rows): return rows
    case .objectIDs(let ids): return try store.snapshots(for: ids).compactMap(\.self)
    case .count, .dictionaries:
      throw ProbeError(description: "a fetch for snapshots gave something else")
    }
  }

  /// The string values of one attribute in the order of the rows.
  func strings(_ name: String, of rows: [RowSnapshot]) throws -> [String] {
    try rows.map { row in
      if case .string(let text)? = try value(name, of: row) { return text }
      return "nil"
    }
  }
}

/// A check cannot go on.
struct ProbeError: Error, CustomStringConvertible {
  let description: String
}
