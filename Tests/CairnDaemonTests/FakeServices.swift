// Services with fixed answers, for tests of what stands before the engine.
import CairnControl
import CairnDaemon
import Synchronization

final class FakeServices: DaemonServices {
  struct Row: Sendable { let values: [String: JSONValue] }
  let imported = Mutex<[ImportRecords.Parameters]>([])
  let saved = Mutex<[SaveRecords.Parameters]>([])
  let waitWasCancelled = Mutex(false)

  func status() async -> EngineStatus {
    EngineStatus(
      model: "/etc/cairn/Shop.xcdatamodeld",
      local: StoreStatus(
        name: "local", type: "sqlite", location: "/var/lib/cairn/local.sqlite", state: .open,
        lastTransaction: 42, records: 1, bytes: 12_345_678),
      replicas: [
        ReplicaStatus(
          name: "backup", type: "sqlite", location: "/b.sqlite", direction: .both, state: .inSync,
          lagTransactions: 0,
          lastPass: WireDate.parse("2026-03-14T15:09:26.535Z").map(WireDate.init)),
        ReplicaStatus(
          name: "nas", type: "sqlite", location: "/nas.sqlite", direction: .push,
          state: .unavailable, lagTransactions: 12, lagSeconds: 3.44,
          problem: StatusProblem(code: "notFound", message: "no such\nfile")),
      ])
  }

  func stores() async throws -> [StoreDescription] {
    [
      StoreDescription(
        name: "local", role: .local, type: "sqlite", location: "/var/lib/cairn/local.sqlite",
        origin: .configuration, state: "open"),
      StoreDescription(
        name: "backup", role: .replica, type: "sqlite", location: "/b.sqlite", direction: .both,
        origin: .command, state: "inSync"),
    ]
  }

  func addStore(_ parameters: AddStore.Parameters) async throws -> AddStore.Reply {
    guard parameters.name != "local" else {
      throw ControlError.storeExists(name: "local", reason: "it is the local store")
    }
    return AddStore.Reply(
      store: StoreDescription(
        name: parameters.name, role: .replica, type: parameters.type,
        location: parameters.location, direction: parameters.direction, origin: .command,
        state: "opening"), added: true)
  }

  func removeStore(named name: String) async throws {
    guard name == "backup" else { throw ControlError.storeNotFound(name: name) }
  }

  func verify(
    store name: String?, report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.Summary {
    if name == "damaged" {
      try await report(
        .init(
          difference: .init(
            store: "damaged", kind: .missing, entity: "Item", record: "r1", detail: "not there")))
    }
    let differences = name == "damaged" ? 1 : 0
    return .init(
      stores: [
        .init(store: name ?? "backup", records: 7, digest: "abcd", differences: differences)
      ],
      isEqual: differences == 0)
  }

  func syncNow(replica name: String?) async throws -> [String] { [name ?? "backup"] }

  func wait(replica name: String?, timeout: Duration) async throws -> WaitForSync.Reply {
    if name == "slow" {
      do {
        try await Task.sleep(for: timeout)
      } catch {
        waitWasCancelled.withLock { $0 = true }
        throw error
      }
      throw ControlError.waitTimedOut(behind: ["slow"])
    }
    return WaitForSync.Reply(reached: [name ?? "backup"], waited: 0)
  }

  func pause(replica name: String?) async throws -> [String] { [name ?? "backup"] }
  func resume(replica name: String?) async throws -> [String] { [] }

  func model() async throws -> ModelSummary {
    ModelSummary(
      name: "Shop",
      entities: [
        EntitySummary(
          name: "Item",
          attributes: [
            AttributeSummary(name: "name", type: "String", isOptional: false),
            AttributeSummary(name: "count", type: "Integer 64", isOptional: true, defaultValue: 0),
            AttributeSummary(name: "price", type: "Double", isOptional: true),
          ],
          relationships: [
            RelationshipSummary(
              name: "tags", destination: "Tag", inverse: "items", isToMany: true,
              deleteRule: "nullify")
          ], uniqueness: [["name"]])
      ])
  }

  func fetch(
    _ parameters: FetchRecords.Parameters,
    rows: @escaping @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws {
    guard parameters.entity == "Item" else {
      throw ControlError.unknownEntity(entity: parameters.entity)
    }
    if let text = parameters.predicate, text.hasPrefix("=") {
      throw ControlError.invalidPredicate(text: text, position: 3, reason: "a value is missing")
    }
    if parameters.predicate == "endless" {
      let wide = JSONValue.string(String(repeating: "x", count: 60000))
      while true { try await rows(.init(rows: [["id": "r", "name": wide]])) }
    }
    try await rows(
      .init(
        properties: ["name", "count"],
        rows: [["id": "r1", "entity": "Item", "name": "nut, large", "count": 12]]))
    try await rows(
      .init(rows: [["id": "r2", "entity": "Item", "name": "bolt\u{1B}[31m", "count": nil]]))
  }

  func save(_ parameters: SaveRecords.Parameters) async throws -> SaveRecords.Reply {
    saved.withLock { $0.append(parameters) }
    if parameters.deletes?.first?.id == "crash" { throw FakeFault() }
    return SaveRecords.Reply(
      inserted: (parameters.inserts ?? []).indices.map { "new\($0)" },
      updated: parameters.updates?.count ?? 0, deleted: parameters.deletes?.count ?? 0)
  }

  func importRows(_ parameters: ImportRecords.Parameters) async throws -> ImportRecords.Reply {
    for (row, line) in zip(parameters.rows, parameters.lines) where row["name"] == "bad" {
      throw ControlError.importFailed(line: line, reason: "name: not allowed")
    }
    imported.withLock { $0.append(parameters) }
    return ImportRecords.Reply(
      inserted: parameters.rows.count, updated: 0, unchanged: 0, created: 0)
  }
}

struct FakeFault: Error {}
