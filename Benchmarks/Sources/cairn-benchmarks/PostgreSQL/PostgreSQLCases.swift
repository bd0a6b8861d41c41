// The cases of PostgreSQL stores: what contexts do with one, against libpq by hand.

@_spi(Generated) import Cairn
import Foundation

/// Builds and runs every case that needs a PostgreSQL server.
struct PostgreSQLCases {
  let service: ServiceCases
  let server: BenchmarkServer

  var rows: Int { service.rows }
  var rounds: Int { service.rounds }
  var samples: [Sample] { service.samples }

  /// - Returns: Nil where no server is installed.
  init?(_ service: ServiceCases) throws {
    guard let programs = BenchmarkServer.programs else { return nil }
    self.service = service
    server = try BenchmarkServer(programs: programs)
  }

  /// Runs the cases; `each` gets the results of a case when they are there.
  func all(only: String?, each: ([CaseResult]) -> Void) throws {
    let cases: [(name: String, run: () throws -> [CaseResult])] = [
      ("insert", { try [insertAndSave(history: false)] }),
      ("insert history", { try [insertAndSave(history: true)] }),
      ("fetch", { try [fetchObjects()] }), ("lookup", { try [lookUp()] }),
      ("apply", applyChanges), ("latency", latency), ("first sync", firstSync),
      ("idle 50", idleHub),
    ]
    let named = cases.filter { $0.name == only }
    let wanted = named.isEmpty ? cases.filter { only.map($0.name.contains) ?? true } : named
    for element in wanted { each(try element.run()) }
  }

  /// Lets `body` use a schema of its own, with nothing in it, at a server that has nothing left to write.
  func withSchema<T>(_ body: (String) throws -> T) throws -> T {
    let name = server.newSchema()
    try server.query("CHECKPOINT")
    defer { _ = try? server.query("DROP SCHEMA IF EXISTS \(name) CASCADE") }
    return try body(name)
  }

  private func withRaw(filled: Bool, _ body: (RawPostgreSQL) throws -> Double) throws -> Double {
    try withSchema { schema in
      let database = try RawPostgreSQL(server, schema: schema)
      if filled {
        try database.insert(samples)
        try database.analyze()
      }
      return try body(database)
    }
  }

  private func withCairn(
    filled: Bool, history: Bool = false, _ body: (CairnStack) throws -> Double
  ) throws -> Double {
    try withSchema { schema in
      let stack = try CairnStack(server.url(schema), type: "PostgreSQL", history: history)
      if filled {
        try stack.insert(samples)
        try server.query("VACUUM ANALYZE \(schema).item")
      }
      let seconds = try body(stack)
      try stack.close()
      return seconds
    }
  }

  private func insertAndSave(history: Bool) throws -> CaseResult {
    try measure(
      "PostgreSQL: insert + save, history \(history ? "on" : "off") (raw: unnest)", units: rows,
      rounds: rounds, must: history ? nil : 2.5, aim: history ? nil : 1.6,
      [
        Contestant(name: "raw") {
          try withRaw(filled: false) { d in try timed { try d.insert(samples) } }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: false, history: history) { s in try s.insert(samples) }
        },
      ])
  }

  private func fetchObjects() throws -> CaseResult {
    try measure(
      "PostgreSQL: fetch into uniqued, filled objects (raw: binary rows)", units: rows,
      rounds: rounds, must: 2.2, aim: 1.5,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in try timed { keep(try d.readAll()) } }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let context = stack.newContext()
            return try context.performAndWait {
              var objects: [ManagedObject] = []
              let seconds = try timed { objects = try stack.fetchAll(context, asFaults: false) }
              guard objects.count == rows else {
                throw RawError(description: "\(objects.count) objects, not \(rows)")
              }
              keep(objects)
              return seconds
            }
          }
        },
      ])
  }

  /// A round trip each, in no order.
  private func lookUp() throws -> CaseResult {
    var generator = SeededGenerator(seed: 42)
    let keys = Array((1...Int64(rows)).shuffled(using: &generator).prefix(20_000))
    return try measure(
      "PostgreSQL: object by ID, from the store (raw: prepared statement)", units: keys.count,
      rounds: rounds, must: 1.5, aim: 1.2,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in try timed { keep(try d.lookUp(keys)) } }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let ids = try keys.map { try stack.itemID(Int($0)) }
            let context = stack.newContext()
            return try context.performAndWait {
              var found: [ManagedObject] = []
              found.reserveCapacity(ids.count)
              let seconds = try timed {
                for id in ids { found.append(try context.existingObject(with: id)) }
              }
              keep(found)
              return seconds
            }
          }
        },
      ])
  }
}
