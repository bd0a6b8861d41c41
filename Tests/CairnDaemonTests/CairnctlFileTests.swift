// The real cairnctl on store and model files, without any daemon.
import Cairn
import CairnControl
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnDaemon

/// `cairnctl inspect` and `cairnctl model convert`.
@Suite struct CairnctlFileTests {
  private let folder: TemporaryFolder
  private var store: String { folder.path + "/Library.sqlite" }

  init() throws {
    folder = try TemporaryFolder()
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
    let model = ManagedObjectModel()
    model.entities = [author]
    model.versionIdentifiers = ["1.0"]
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: URL(fileURLWithPath: store),
      options: [StoreOptionKey.historyTracking: true])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["Ann", "Bob"] {
        let object = ManagedObject(entity: author, insertInto: context)
        object.setValue(name, forKey: "name")
      }
      try context.save()
    }
    try coordinator.remove(opened)
  }

  private func cairnctl(_ arguments: String...) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, arguments, environment: ["CAIRN_SOCKET": "/no/such/socket"])
  }

  private func damage(_ sql: String) throws {
    let queue = try DatabaseQueue(patient: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// A database of another program.
  private func foreignDatabase() throws -> String {
    let path = folder.path + "/foreign"
    let queue = try DatabaseQueue(patient: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY)") }
    try queue.close()
    return path
  }

  @Test func inspectShowsWhatIsInAStore() async throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let outcome = try await cairnctl("inspect", store)
    #expect(outcome.code == 0, "\(outcome.errors)")
    for text in [
      "Model       kept inside", "Version     1.0", "1 transaction, 2 changes", "Integrity   good",
      "NUMBER  ENTITY  INHERITS  ROWS  HASH", "     1  Author  -            2  ",
    ] {
      #expect(outcome.output.contains(text), "\(outcome.output)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
  }

  @Test func inspectWritesJSONForMachines() async throws {
    let outcome = try await cairnctl("--json", "inspect", store)
    #expect(outcome.code == 0)
    let value = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(value["integrity"] as? String == "good")
    #expect(value["model"] as? String == "kept")
    let entities = try #require(value["entities"] as? [[String: Any]])
    #expect(entities.first?["name"] as? String == "Author")
    #expect(entities.first?["count"] as? Int == 2)
    #expect((value["history"] as? [String: Any])?["changes"] as? Int == 2)
    #expect((value["findings"] as? [Any])?.isEmpty == true)
  }

  @Test func inspectNamesTheDamageAndFails() async throws {
    try damage("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT = 1")
    let outcome = try await cairnctl("inspect", store)
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("damage   keyCounter  Author Z_MAX  The counter is 0"))
    #expect(outcome.errors.contains("is damaged: 1 finding"))
    #expect(try await cairnctl("inspect", "--no-check", store).code == 0)
  }

  @Test func whatIsNoStoreIsRefused() async throws {
    let text = folder.path + "/text"
    try Data("no database".utf8).write(to: URL(fileURLWithPath: text))
    func file(_ name: String, _ data: Data) throws -> String {
      try data.write(to: URL(fileURLWithPath: folder.path + "/" + name))
      return folder.path + "/" + name
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: store))
    let foreign = try foreignDatabase()
    for (path, message) in [
      (folder.path + "/none", "There is no store at"), (text, "is not an SQLite database"),
      (folder.path, "is a folder"), (try file("empty", Data()), "is empty, not a store"),
      (
        try file("random", Data((0..<4096).map { UInt8($0 * 31 % 251) })),
        "is not an SQLite database, or an encrypted one"
      ),
      (
        try file("newer", whole.prefix(18) + Data([3, 3]) + whole.dropFirst(20)),
        "was written by a newer SQLite"
      ), (foreign, "is a database of another application"),
    ] {
      let outcome = try await cairnctl("inspect", path)
      #expect(outcome.code == 1)
      #expect(outcome.output == "")
      #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }
    #expect(try await cairnctl("inspect").code == 64)
  }

  @Test func theModelInsideAStoreBecomesAPackage() async throws {
    let output = folder.path + "/Out.xcdatamodeld"
    let outcome = try await cairnctl("model", "convert", store, output)
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("Out, 1 entity, "))
    let kept = try #require(
      try ManagedObjectModel.load(fromSQLiteStoreAt: URL(fileURLWithPath: store)))
    let written = try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: output))
    #expect(written.entityVersionHashesByName == kept.entityVersionHashesByName)
    #expect(written.versionIdentifiers == ["1.0"])
    let again = try await cairnctl("model", "convert", store, output)
    #expect(again.code == 1)
    #expect(again.errors.contains("There is something already"))
    // And back into the compiled form.
    let compiled = folder.path + "/Out.mom"
    #expect(try await cairnctl("model", "convert", output, compiled).code == 0)
    #expect(
      try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: compiled))
        .entityVersionHashesByName == kept.entityVersionHashesByName)
  }

  @Test func aStoreWithoutAModelAndAnotherOutputAreRefused() async throws {
    try damage("DROP TABLE Z_MODELCACHE")
    let outcome = try await cairnctl("model", "convert", store, folder.path + "/Out.xcdatamodeld")
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("keeps no model inside"))
    #expect(try await cairnctl("model", "convert", store, folder.path + "/Out.txt").code == 64)
  }

  @Test func whatIsNeitherAStoreNorAModelIsRefused() async throws {
    let text = folder.path + "/text.sqlite"
    try Data("junk\n".utf8).write(to: URL(fileURLWithPath: text))
    for (path, message) in [
      (text, "The file is no XML: neither a compiled model nor a document"),
      (folder.path + "/none.sqlite", "There is no such file"),
    ] {
      let outcome = try await cairnctl("model", "convert", path, folder.path + "/Out.xcdatamodeld")
      #expect(outcome.code == 1)
      #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }
  }
}
