// Short words for what tests do with stores of the library's model.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

/// A schema at a server, and stores in it.
struct StoreWords {
  let server: PostgreSQLServer
  let schema: String

  init(_ server: PostgreSQLServer? = nil) throws {
    self.server = try server ?? PostgreSQLServer.shared
    schema = self.server.newName("store")
  }

  func open(
    model: ManagedObjectModel? = nil, _ options: [String: Any] = [:]
  ) throws -> PostgreSQLStore {
    let store = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try model ?? LibraryModel.make().model, configurationName: nil,
        url: server.storeURL(schema), options: StoreOptions(options)))
    try store.openStore()
    return store
  }

  /// A store with history.
  func openRecording(
    model: ManagedObjectModel? = nil, capturing: Bool = false
  ) throws -> PostgreSQLStore {
    try open(
      model: model,
      [StoreOptionKey.historyTracking: true, StoreOptionKey.postgreSQLCapture: capturing])
  }

  /// A row that is not in the store yet.
  func row(
    _ entity: String, _ values: [String: AttributeValue] = [:], in store: PostgreSQLStore
  ) throws -> RowSnapshot {
    let entity = try #require(store.managedObjectModel.entitiesByName[entity])
    let id = try #require(try store.obtainPermanentIDs(for: [entity]).first)
    var all = entity.layout.defaultValues
    for (name, value) in values { all[try #require(entity.layout.slotByName[name])] = value }
    return .make(objectID: id, version: 0, values: all)
  }

  func change(
    _ row: RowSnapshot, _ values: [String: AttributeValue], toManys: [Int] = [],
    overwrites: Bool = false
  ) throws -> SaveChangesRequest.Update {
    var all = row.values
    let slots = try values.map { name, value -> Int in
      let slot = try #require(row.objectID.entity.layout.slotByName[name])
      all[slot] = value
      return slot
    }
    return .init(
      snapshot: .make(objectID: row.objectID, version: row.version, values: all),
      changedSlots: slots, changedToManys: toManys, overwritesConflicts: overwrites)
  }

  /// The rows of a save that must succeed.
  @discardableResult
  func save(
    in store: PostgreSQLStore, _ fill: (inout SaveChangesRequest) throws -> Void
  ) throws -> SaveReceipt {
    var request = SaveChangesRequest()
    try fill(&request)
    let outcome = try store.save(request)
    guard case .saved(let receipt) = outcome else {
      throw NotSaved(description: "not saved: \(outcome)")
    }
    return receipt
  }

  struct NotSaved: Error, CustomStringConvertible {
    let description: String
  }

  @discardableResult
  func insert(
    _ entity: String, _ values: [String: AttributeValue] = [:], in store: PostgreSQLStore
  ) throws -> RowSnapshot {
    let row = try row(entity, values, in: store)
    let receipt = try save(in: store) { $0.insertions = [.init(snapshot: row)] }
    return try #require(receipt.snapshots.first)
  }

  func changes(
    in store: PostgreSQLStore, after number: Int64? = nil
  ) throws -> [HistoryChangeRecord] {
    try store.readHistory(HistoryReadRequest(after: number)).flatMap(\.changes)
  }

  /// A statement of another program, such as psql.
  @discardableResult
  func sql(_ text: String, on connection: PostgreSQLConnection) throws -> PostgreSQLRows {
    try connection.run(text.replacing("@", with: "\"\(schema)\"."), isKept: false)
  }

  /// A session of another program.
  func foreign(user: String = "owner") throws -> PostgreSQLConnection {
    let connection = try server.connect(user: user)
    try connection.run("RESET ALL", isKept: false)
    try connection.run("SET \(SQLCapture.ownSessions) = 'off'", isKept: false)
    return connection
  }
}
