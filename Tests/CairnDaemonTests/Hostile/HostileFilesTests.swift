// Damaged models and stores, given to the real programs: each ends by itself and says why.
import Cairn
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Specification: operations.md – programs end with an exit code and a message, never by a signal.
@Suite struct HostileFilesTests {
  /// Nothing wrong, a failure, wrong usage, unusable input.
  private static let codes: Set<Int32> = [0, 1, 64, 65]

  /// Signals come back as their number, of which the likely ones are no exit codes of ours.
  private func check(_ outcome: Outcome, _ what: String) {
    #expect(Self.codes.contains(outcome.code), "\(what): \(outcome.code) \(outcome.errors)")
    if outcome.code != 0 { #expect(!outcome.errors.isEmpty, "\(what): no message") }
    #expect(!outcome.errors.contains("Fatal error"), "\(what): \(outcome.errors)")
  }

  private func seed() -> UInt64 {
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    print("hostile files: seed \(seed) (CAIRN_TEST_SEED=\(seed) repeats them)")
    return seed
  }

  /// A store of the hostile model, closed.
  private func makeStore(_ model: String, _ path: String) throws {
    let model = try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: model))
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: URL(fileURLWithPath: path),
      options: nil)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<20 {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue("item \(number)", forKey: "name")
        item.setValue(number, forKey: "i64")
      }
      try context.save()
      context.reset()
    }
    try coordinator.remove(store)
  }

  @Test(.timeLimit(.minutes(10)))
  func modelsThatWereDamagedEndNoProgram() async throws {
    let seed = seed()
    var numbers = SeededNumbers(seed: seed)
    let folder = try TemporaryFolder()
    let generator = try #require(Project.program("cairn-modelgen"), "build the products first")
    let client = try #require(Project.program("cairnctl"), "build the products first")
    let whole = try TestModel.write("Whole", in: folder, contents: HostileModel.contents)
    let (file, store) = (folder.file("model"), folder.file("s.sqlite"))
    try makeStore(whole, store)
    let archive = try CompiledModel.write(
      try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: whole)))
    var documents =
      (HostileModelDocuments.composites + HostileModelDocuments.inheritance
      + HostileModelDocuments.markup).map { Data($0.utf8) }
    for _ in 0..<3 {
      documents.append(HostileDocuments.damageXML(HostileModel.document, using: &numbers))
      documents.append(HostileDocuments.damageList(archive, using: &numbers))
    }
    for (number, document) in documents.enumerated() {
      try document.write(to: URL(fileURLWithPath: file))
      let what = "seed \(seed), document \(number)"
      let output = folder.file("out.swift")
      check(try await run(generator, ["generate", file, "--output", output, "--all"]), what)
      check(try await run(generator, ["hashes", file]), what)
      check(try await run(client, ["fetch", "Item", "--file", store, "--model", file]), what)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func storesThatWereDamagedEndNoProgram() async throws {
    let seed = seed()
    var numbers = SeededNumbers(seed: seed)
    let folder = try TemporaryFolder()
    let client = try #require(Project.program("cairnctl"), "build the products first")
    let model = try TestModel.write("Whole", in: folder, contents: HostileModel.contents)
    try makeStore(model, folder.file("whole.sqlite"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("whole.sqlite")))
    let path = folder.file("s.sqlite")
    for number in 0..<30 {
      let isCache = number % 2 == 0
      let damaged = isCache ? bytes : HostileDocuments.damage(bytes, using: &numbers)
      // A damaged store leaves its log behind, which belongs to no other.
      for log in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + log) }
      try damaged.write(to: URL(fileURLWithPath: path))
      if isCache { try damageModelCache(path, &numbers) }
      let what = "seed \(seed), \(isCache ? "model cache" : "file") \(number)"
      let arguments = ["fetch", "Item", "--file", path, "--where", "i64 > 3 AND box.name == nil"]
      check(try await run(client, arguments), what)
      check(try await run(client, arguments + ["--model", model]), what)
    }
  }

  private func damageModelCache(_ path: String, _ numbers: inout SeededNumbers) throws {
    let queue = try DatabaseQueue(patient: path)
    try queue.write { database in
      let column = "SELECT Z_CONTENT FROM Z_MODELCACHE"
      let cache = try Data.fetchOne(database, sql: column) ?? Data()
      try database.execute(
        sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = ?",
        arguments: [HostileDocuments.damage(cache, using: &numbers)])
    }
    try queue.close()
  }
}
