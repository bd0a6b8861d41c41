// The cases: what each contestant does, and the targets it is held to.

@_spi(Generated) import Cairn
import Foundation

/// Builds and runs every case with `rows` rows.
struct Cases {
  let rows: Int
  let rounds: Int
  let workspace: Workspace
  /// The name of the case to run or, when none has it, part of the names of those; nil for all.
  let only: String?

  func all() throws -> [CaseResult] {
    let cases: [(name: String, run: () throws -> CaseResult)] = [
      ("insert", { try insertAndSave(history: false) }),
      ("insert history", { try insertAndSave(history: true) }),
      ("fetch objects", { try fetchObjects(uniqued: false) }),
      ("fetch objects uniqued", { try fetchObjects(uniqued: true) }),
      ("fetch faults", { try fetchFaults(uniqued: false) }),
      ("fetch faults uniqued", { try fetchFaults(uniqued: true) }),
      ("lookup registered", lookUpRegistered), ("lookup store", lookUpInStore),
      ("range", rangeQueries), ("traverse prefetched", { try traverse(prefetched: true) }),
      ("traverse lazy", { try traverse(prefetched: false) }),
      ("update", update), ("cascade", { try cascade(isTold: false) }),
      ("cascade told", { try cascade(isTold: true) }), ("batch delete", batchDelete),
      ("save one", saveOne), ("get", getAttribute), ("set", setAttribute), ("memory", memory),
      ("1 reader", { try readBesideWriter(readers: 1) }),
      ("8 readers", { try readBesideWriter(readers: 8) }),
      ("width 10", { try wide(10) }), ("width 100", { try wide(100) }),
      ("width 1000", { try wide(1000) }), ("open", openLarge),
    ]
    let all = cases + rowSumCases + migrationCases + classCases
    guard let only else { return try all.map { try $0.run() } }
    let named = all.filter { $0.name == only }
    return try (named.isEmpty ? all.filter { $0.name.contains(only) } : named).map { try $0.run() }
  }

  func withRaw(filled: Bool, _ body: (RawDatabase) throws -> Double) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    let database = try RawDatabase(file)
    try database.createSampleTable()
    if filled { try database.insert(Sample.rows(rows)) }
    return try body(database)
  }

  func withGRDB(filled: Bool, _ body: (GRDBDatabase) throws -> Double) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    try RawDatabase(file).createSampleTable()
    let database = try GRDBDatabase(file)
    if filled { try database.insert(Sample.rows(rows)) }
    return try body(database)
  }

  func withCairn(
    filled: Bool, history: Bool = false, isIndexed: Bool = false, rowSums: Bool = false,
    _ body: (CairnStack) throws -> Double
  ) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    let stack = try CairnStack(file, history: history, isIndexed: isIndexed, rowSums: rowSums)
    if filled { try stack.insert(Sample.rows(rows)) }
    let seconds = try body(stack)
    try stack.close()
    return seconds
  }

  // Parents with ten children each.

  func withRawFamily(parents: Int, _ body: (RawDatabase) throws -> Double) throws -> Double {
    try withRaw(filled: false) { database in
      try database.createFamily(parents: parents, children: 10)
      return try body(database)
    }
  }

  func withGRDBFamily(parents: Int, _ body: (GRDBDatabase) throws -> Double) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    try RawDatabase(file).createFamily(parents: parents, children: 10)
    return try body(try GRDBDatabase(file))
  }

  /// The body gets a context that has read nothing.
  func withCairnFamily(
    parents: Int, rowSums: Bool = false, _ body: (ManagedObjectContext) throws -> Double
  ) throws -> Double {
    try withCairn(filled: false, rowSums: rowSums) { stack in
      try stack.createFamily(parents: parents, children: 10)
      let context = stack.newContext()
      return try context.performAndWait { try body(context) }
    }
  }

  private func insertAndSave(history: Bool) throws -> CaseResult {
    let samples = Sample.rows(rows)
    return try measure(
      "insert + save, history \(history ? "on" : "off")", units: rows, rounds: rounds,
      must: history ? 2.8 : 2.0, aim: history ? 2.0 : 1.4,
      [
        Contestant(name: "raw") {
          try withRaw(filled: false) { d in try timed { try d.insert(samples) } }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: false) { d in try timed { try d.insert(samples) } }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: false, history: history) { s in try s.insert(samples) }
        },
      ])
  }

  private var shuffledKeys: [Int64] {
    var generator = SeededGenerator(seed: 42)
    return (1...Int64(rows)).shuffled(using: &generator)
  }

  private func lookUpRegistered() throws -> CaseResult {
    try measure(
      "object by ID, registered", units: rows, rounds: rounds, must: 150, aim: 60,
      [
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let context = stack.newContext()
            return try context.performAndWait {
              let objects = try stack.fetchAll(context, asFaults: false)
              let ids = objects.map(\.objectID)
              let seconds = timed { for id in ids { keep(context.registeredObject(for: id)) } }
              keep(objects)
              return seconds
            }
          }
        }
      ])
  }

  private func lookUpInStore() throws -> CaseResult {
    let keys = shuffledKeys
    return try measure(
      "object by ID, from the store", units: rows, rounds: rounds, must: 2.5, aim: 1.8,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in
            // Room for all pages, as Cairn's connection has.
            try d.execute("PRAGMA cache_size = -65536")
            return try timed { keep(try d.lookUp(keys)) }
          }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            var records: [ItemRecord] = []
            let seconds = try timed { records = try d.lookUp(keys) }
            keep(records)
            return seconds
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let reader = stack.newContext()
            let ids: [ManagedObjectID] = try reader.performAndWait {
              var generator = SeededGenerator(seed: 42)
              return try stack.fetchAll(reader, asFaults: true).map(\.objectID)
                .shuffled(using: &generator)
            }
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

  private func update() throws -> CaseResult {
    let changed = (1...Int64(rows)).filter { $0 % 10 == 0 }
    return try measure(
      "update 2 of 10 attributes, save, history on", units: changed.count, rounds: rounds,
      must: 2.0, aim: 1.4,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in try timed { try d.update(changed) } }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            let records = try d.fetchAll().filter { $0.id % 10 == 0 }
            return try timed { try d.update(records) }
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true, history: true) { stack in try timedUpdate(stack) }
        },
      ])
  }

  /// Every tenth object.
  func timedUpdate(_ stack: CairnStack) throws -> Double {
    let context = stack.newContext()
    return try context.performAndWait {
      let all = try stack.fetchAll(context, asFaults: false)
      let objects = all.enumerated().filter { $0.offset % 10 == 9 }.map(\.element)
      defer { keep(all) }
      return try timed {
        for (index, object) in objects.enumerated() {
          object.setStoredValue(.integer(Int64(index) &* 3), at: ItemSlot.count)
          object.setStoredValue(.string("changed \(index)"), at: ItemSlot.title)
        }
        try context.save()
      }
    }
  }
}

/// A small seeded generator, so that every run looks keys up in the same order.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
