// The same random batch requests to a PostgreSQL store and to a SQLite store: the same results, rows and history.

import CairnModel
import CairnPredicates
import CairnSQLite
import TestSupport
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct BatchParityTests {
  private static func model() throws -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type)
    }
    let item = EntityDescription(
      name: "Item",
      properties: [
        attribute("code", .string), attribute("mail", .string), attribute("number", .integer32),
        attribute("born", .date), attribute("price", .decimal), attribute("rate", .double),
      ])
    item.attributesByName["number"]?.defaultValue = 3
    item.uniquenessConstraints = [["code"], ["mail", "number"], ["born"]]
    let special = EntityDescription(name: "Special", properties: [attribute("extra", .string)])
    item.subentities = [special]
    let box = EntityDescription(name: "Box", properties: [attribute("name", .string)])
    let (items, inBox) = (
      relationship("items", to: item, isToMany: true),
      relationship("box", to: box)
    )
    connect(items, inBox)
    let (next, previous) = (
      relationship("next", to: item), relationship("previous", to: item)
    )
    connect(next, previous)
    next.deleteRule = .cascade
    box.properties.append(items)
    item.properties += [inBox, next, previous]
    let model = ManagedObjectModel()
    model.entities = [item, special, box]
    try model.prepareForUse()
    return model
  }

  /// What one request did to one store.
  private struct Answer: Equatable, CustomStringConvertible {
    var result: [String] = []
    var rows: [String] = []
    var history: [String] = []
    var description: String {
      "\n  " + (result + rows + history).joined(separator: "\n  ")
    }
  }

  /// Objects by the order in which they were met: a request that fails uses up keys in one store and not in the other.
  private final class Names {
    private var numbers: [ManagedObjectID: Int] = [:]

    func name(_ id: ManagedObjectID) -> String {
      let number = numbers[id] ?? numbers.count
      numbers[id] = number
      return "\(id.entity.name ?? "")\(number)"
    }
  }

  private func answer(
    _ request: StoreBatchRequest, _ store: PersistentStore, _ names: Names, after last: inout Int64
  ) throws -> Answer {
    let batches = try #require(store.capabilities.batches)
    let history = try #require(store.capabilities.history)
    var answer = Answer()
    do {
      let outcome = try batches.executeBatch(request, author: "a", contextName: "c")
      answer.result =
        outcome.inserted.map { "+\(names.name($0))" }
        + outcome.updated.map { "=\(names.name($0))" }.sorted()
        + outcome.deleted.ids.map { "-\(names.name($0))" }.sorted()
    } catch let error as CoreDataError {
      answer.result = ["\(error.code)"]
    }
    for name in ["Item", "Box"] {
      let entity = try #require(store.managedObjectModel.entitiesByName[name])
      let rows = try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
      answer.rows += rows.map { row in
        let values = row.values.map { value -> String in
          if case .object(let id) = value { return names.name(id) }
          return "\(value)"
        }
        return "\(names.name(row.objectID)) v\(row.version) \(values.joined(separator: " "))"
      }
    }
    for transaction in try history.readHistory(HistoryReadRequest(after: last)) {
      last = transaction.number
      answer.history += transaction.changes.map { change in
        let properties = change.changedProperties?.sorted().joined(separator: " ") ?? ""
        return "\(change.kind) \(names.name(change.objectID)) \(properties)"
      }.sorted()
    }
    return answer
  }

  @Test(arguments: 0..<6)
  func randomRequestsDoTheSameInBothStores(_ round: Int) throws {
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
    let seed = given.map { $0 &+ UInt64(round) } ?? UInt64.random(in: 0...UInt64.max)
    print("BatchParityTests seed \(seed)")
    var numbers = SeededNumbers(seed: seed)
    let server = try PostgreSQLServer.shared
    let folder = try TemporaryFolder()
    let kinds: [(any StoreKind, URL?)] = [
      (PostgreSQLStoreKind(), server.storeURL(server.newName("batches"))),
      (SQLiteStoreKind(), folder.fileURL("a.sqlite")),
    ]
    let stores = try kinds.map { kind, url in
      let store = PersistentStore.make(
        kind.storeClass,
        configuration: StoreConfiguration(
          model: try Self.model(), configurationName: nil, url: url,
          options: StoreOptions([StoreOptionKey.historyTracking: true])))
      try store.openStore()
      return store
    }
    defer { for store in stores { try? store.close() } }
    let names = [Names(), Names()]
    var last: [Int64] = [0, 0]
    for step in 0..<40 {
      let plan = BatchPlan(&numbers)
      let answers = try stores.indices.map { index in
        try answer(
          plan.request(for: stores[index]), stores[index], names[index], after: &last[index])
      }
      #expect(answers[0] == answers[1], "seed \(seed), step \(step): \(plan)")
      if answers[0] != answers[1] { return }
    }
  }
}

/// A random request, told without a store.
private enum BatchPlan {
  typealias Row = (code: Int?, mail: Int?, number: Int?, born: Int?, link: Int?)

  case insert(String, [Row], BatchDuplicateRule)
  case update(String, Bool, String, [String: String])
  case delete(String, String, limit: Int)

  init(_ numbers: inout SeededNumbers) {
    func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }
    func maybe(_ range: Range<Int>) -> Int? { pick(0..<3) == 0 ? nil : pick(range) }
    let entity = ["Item", "Special", "Item", "Box"][pick(0..<4)]
    let predicates =
      entity == "Box"
      ? ["TRUEPREDICATE", "name == 'b1'", "ANY items.number > 5", "name LIKE[cd] 'B*'"]
      : [
        "TRUEPREDICATE", "number > 6", "code == '4'", "box.name == 'b1'", "next != nil",
        "code MATCHES '[1-5]'", "number IN {1, 2, 3}", "mail == nil",
      ]
    let predicate = predicates[pick(0..<predicates.count)]
    switch pick(0..<10) {
    case 0..<5:
      let rows = (0..<pick(1..<8)).map { _ -> Row in
        (maybe(0..<9), maybe(0..<4), maybe(0..<12), maybe(0..<40), maybe(0..<6))
      }
      self = .insert(entity, rows, [.refuse, .overwrite, .overwrite, .skip][pick(0..<4)])
    case 5..<8 where entity != "Box":
      // Numbers are unique with the mail, and are not counted up: databases look at unique values row by row, each in an
      // order of its own, so that 1 becoming 2 may be refused where another row's 2 has still to become 3.
      let all = [
        ("rate", "number + 1"), ("number", "7"), ("rate", "number * 0.5"), ("code", "mail"),
        ("price", "number / 4"), ("code", "'c'"), ("mail", "box.name"), ("rate", "rate ** 2"),
        ("box", "nil"), ("born", "born"),
      ]
      let chosen = (0..<pick(1..<3)).map { _ in all[pick(0..<all.count)] }
      self = .update(
        entity, pick(0..<2) == 0, predicate,
        Dictionary(chosen, uniquingKeysWith: { first, _ in first }))
    default: self = .delete(entity, predicate, limit: pick(0..<3) == 0 ? 2 : 0)
    }
  }

  func request(for store: PersistentStore) throws -> StoreBatchRequest {
    func entity(_ name: String) throws -> EntityDescription {
      try #require(store.managedObjectModel.entitiesByName[name])
    }
    switch self {
    case .insert(let name, let rows, let duplicates):
      // Boxes that are there.
      guard
        case .objectIDs(let boxes) = try store.fetch(
          StoreFetchRequest(entity: entity("Box"), result: .objectIDs))
      else { throw CocoaError(.featureUnsupported) }
      let dictionaries = rows.map { row -> BatchRowSource.Row in
        if name == "Box" { return ["name": row.code.map { .string("b\($0)") } ?? .null] }
        var values: BatchRowSource.Row = [:]
        if let code = row.code { values["code"] = .string("\(code)") }
        if let mail = row.mail { values["mail"] = .string("m\(mail)") }
        if let number = row.number { values["number"] = .integer(Int64(number)) }
        // Some differ by less than a microsecond.
        if let born = row.born {
          values["born"] = .date(
            Date(timeIntervalSinceReferenceDate: 1e8 + Double(born / 2) + Double(born % 2) * 1e-7))
        }
        if let link = row.link, link < boxes.count { values["box"] = .object(boxes[link]) }
        return values
      }
      return .insert(
        entity: try entity(name), rows: BatchRowSource(dictionaries), duplicates: duplicates)
    case .update(let name, let includesSubentities, let predicate, let values):
      return .update(
        entity: try entity(name), includesSubentities: includesSubentities,
        predicate: ObjectPredicate(format: predicate),
        values: values.mapValues {
          $0 == "nil"
            ? ObjectExpression(forConstantValue: nil) : ObjectExpression(format: $0)
        })
    case .delete(let name, let predicate, let limit):
      // Without an order, each database says which rows are the first ones: SQLite goes by an index where it has one.
      let order = ObjectSortDescriptor(key: name == "Box" ? "name" : "number", ascending: true)
      return .delete(
        StoreFetchRequest(
          entity: try entity(name), predicate: ObjectPredicate(format: predicate),
          sortDescriptors: limit == 0 ? [] : [order], limit: limit))
    }
  }
}
