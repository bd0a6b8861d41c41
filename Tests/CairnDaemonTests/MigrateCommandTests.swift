// The real `cairnctl migrate` on files.
import Cairn
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct MigrateCommandTests {
  private static let fixtures = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"]
  private let folder: TemporaryFolder
  private var store: String { folder.file("Shop.sqlite") }
  /// The package of the golden files; its second version with attributes that need no value.
  private var package: String { folder.file("Shop.xcdatamodeld") }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: Project.file("Tests/CairnDaemonTests/Golden/Models/Shop.xcdatamodeld"),
      toPath: package)
    let contents = URL(fileURLWithPath: "\(package)/Shop 2.xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    let optional = text.replacingOccurrences(
      of: #"name="origin" attributeType"#, with: #"name="origin" optional="YES" attributeType"#)
    try optional.write(to: contents, atomically: true, encoding: .utf8)
  }

  private func migrate(_ arguments: String...) async throws -> Outcome {
    try await migrate(arguments)
  }

  private func migrate(_ path: String, _ arguments: [String]) async throws -> Outcome {
    try await migrate([path] + arguments)
  }

  private func migrate(_ arguments: [String]) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, ["migrate"] + arguments)
  }

  private func model(_ version: String) throws -> ManagedObjectModel {
    try ModelPackage(contentsOf: URL(fileURLWithPath: package)).model(named: version)
  }

  /// A store of the first version: every second item has a weight, and there is one note.
  private func makeStore(items: Int = 10, type: String = StoreTypeName.sqlite) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try model("Shop"))
    let opened = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: store), options: [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let entities = coordinator.managedObjectModel.entitiesByName
      for index in 0..<items {
        let item = ManagedObject(entity: try #require(entities["Item"]), insertInto: context)
        item.setValue("item \(index)", forKey: "label")
        if index % 2 == 0 { item.setValue(Double(index), forKey: "weight") }
      }
      let note = ManagedObject(entity: try #require(entities["Note"]), insertInto: context)
      note.setValue("a note", forKey: "text")
      try context.save()
    }
    try coordinator.remove(opened)
  }

  /// The names of items in a store of the second version.
  private func names(type: String = StoreTypeName.sqlite) throws -> Set<String> {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try model("Shop 2"))
    let opened = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: store), options: [:])
    defer { try? coordinator.remove(opened) }
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      return Set(items.compactMap { $0.value(forKey: "name") as? String })
    }
  }

  /// The folders of copies beside the store.
  private func backups() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("Shop.sqlite.backup-") }
  }

  @Test func aDryRunCountsWhatIsDroppedAndLeavesTheFileAsItIs() async throws {
    try makeStore()
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    let dry = try await migrate(store, "--to", package, "--dry-run")
    #expect(dry.code == 0, "\(dry.errors)")
    let lines = dry.output.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    for line in [
      "by lightweight migration", "Item changed 10", "Note removed 1", "Item.weight 5", "Note 1",
      "nothing was changed; with --allow-drop and without --dry-run this is done",
    ] {
      #expect(lines.contains(line), "\(line) in \(dry.output)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    #expect(try backups().isEmpty)
    let json = try await migrate(store, "--to", package, "--dry-run", "--json")
    #expect(json.output.contains(#"{"place":"Item.weight","values":5}"#), "\(json.output)")
    #expect(json.output.contains(#""isMigrated":false"#))
  }

  @Test(arguments: [StoreTypeName.sqlite, StoreTypeName.xml, StoreTypeName.binary])
  func valuesAreDroppedOnlyWhenThatIsAllowedAndACopyIsKept(type: String) async throws {
    try makeStore(type: type)
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    let refused = try await migrate(store, "--to", package)
    #expect(refused.code == 1 && refused.errors.contains("values would be dropped"))
    #expect(refused.errors.contains("Item.weight (5)") && refused.errors.contains("Note (1)"))
    #expect(try backups().isEmpty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before, "nothing was written")
    let done = try await migrate(store, "--to", package, "--allow-drop")
    #expect(done.code == 0, "\(done.errors)")
    #expect(try names(type: type) == Set((0..<10).map { "item \($0)" }))
    let backup = try #require(try backups().first)
    let copy = folder.file("\(backup)/Shop.sqlite")
    #expect(done.output.contains(copy))
    let facts = try FileFacts(path: folder.file(backup))
    #expect(facts.mode == 0o700)
    // The copy is the store as it was.
    let again = try await migrate(copy, "--to", package, "--dry-run", "--json")
    #expect(again.output.contains(#"{"place":"Item.weight","values":5}"#), "\(again.output)")
    let nothing = try await migrate(store, "--to", package)
    #expect(nothing.code == 0 && nothing.output.contains("is of Shop 2 already"))
  }

  @Test func anElementOfACompositeThatIsDroppedIsNamedAndRefused() async throws {
    func address(_ element: String) -> String {
      """
      <entity name="Item">
        <attribute name="addr" optional="YES" attributeType="Composite" composite="Address"/>
      </entity>
      <composite name="Address">
        <attribute name="\(element)" optional="YES" attributeType="String"/>
        <attribute name="zip" optional="YES" attributeType="String"/>
      </composite>
      """
    }
    let written = try WrittenPackage(
      folder.file("Post.xcdatamodeld"), current: "Two",
      [("One", address("city")), ("Two", address("place"))])
    let post = folder.file("Post.sqlite")
    try written.withStore(post, "One") { context in
      let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(["city": "Ulm", "zip": "89073"], forKey: "addr")
    }
    let refused = try await migrate(post, "--to", written.path)
    #expect(refused.code == 1 && refused.errors.contains("Item.addr.city (1)"), "\(refused.errors)")
    let dry = try await migrate(post, "--to", written.path, "--dry-run", "--json")
    #expect(dry.output.contains(#"{"place":"Item.addr.city","values":1}"#), "\(dry.output)")
  }

  @Test func withoutABackupNoneIsKept() async throws {
    try makeStore()
    let done = try await migrate(store, "--to", package, "--allow-drop", "--no-backup")
    #expect(done.code == 0, "\(done.errors)")
    #expect(try names().count == 10)
    #expect(try backups().isEmpty)
  }

  @Test func whatCannotBeDoneIsSaidBeforeAnythingIsWritten() async throws {
    try makeStore()
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    let needs = Project.file("Tests/CairnDaemonTests/Golden/Models/Shop.xcdatamodeld")
    for (arguments, reason) in [
      ([store, "--to", needs, "--allow-drop"], "Item.origin: it must have a value, and 10 rows"),
      ([store, "--to", package, "--model-version", "Shop 3"], "Item.code: the type changed"),
      ([store, "--to", package, "--model-version", "Shop 9"], "has no version Shop 9"),
      (
        [
          store, "--to", package, "--from", Project.file("Config/demo/DebianPackages.xcdatamodeld"),
        ],
        "was not made with a model of"
      ),
      ([folder.file("nowhere.sqlite"), "--to", package], "there is no such file"),
      ([folder.path, "--to", package], "is a folder"),
      ([store, "--to", folder.file("nowhere.xcdatamodeld")], "There is no such file"),
      ([store, "--to", store + ".mom"], "There is no such file"),
    ] as [([String], String)] {
      let program = try #require(Project.program("cairnctl"))
      let outcome = try await run(program, ["migrate"] + arguments)
      #expect(outcome.code == 1 && outcome.errors.contains(reason), "\(arguments): \(outcome)")
    }
    let cut = folder.file("cut.sqlite")
    try before.prefix(3000).write(to: URL(fileURLWithPath: cut))
    let damaged = try await migrate(cut, "--to", package, "--allow-drop")
    #expect(damaged.code == 1 && damaged.errors.contains("damaged"), "\(damaged.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    #expect(try backups().isEmpty)
  }

  @Test func aStoreThatADaemonOrAnotherProgramHasOpenIsLeftAlone() async throws {
    let replica = folder.file("nas.sqlite")
    let daemon = try Daemon(in: folder, .init(replicas: [("nas", replica)]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    for path in [daemon.localPath, replica] {
      let outcome = try await migrate(path, "--to", demo)
      #expect(outcome.code == 1, "\(path)")
      #expect(outcome.errors.contains("others have the store open"), "\(outcome.errors)")
      #expect(outcome.errors.contains("process \(daemon.pid)"), "\(outcome.errors)")
    }
    #expect(await daemon.stop() == 0)
    let outcome = try await migrate(daemon.localPath, "--to", demo)
    #expect(outcome.code == 0 && outcome.output.contains("already"), "\(outcome)")
  }

  /// SQLite changes the file in one transaction; the others are made anew beside it.
  @Test(arguments: [(StoreTypeName.sqlite, 4000), (StoreTypeName.xml, 1000)])
  func killedAnywhereTheFileIsOfTheOldVersionOrTheNewOne(type: String, items: Int) async throws {
    try makeStore(items: items, type: type)
    let migration = KilledMigration(store: store, arguments: ["--to", package, "--allow-drop"])
    _ = try await migration.run { delay in
      let isNew = try await isMigrated(type: type, items: items, after: delay)
      let finished = try await migrate(store, "--to", package, "--allow-drop", "--no-backup")
      #expect(finished.code == 0, "\(finished.errors)")
      #expect(try names(type: type).count == items)
      try migration.checkNothingIsLeft()
      return isNew ? "new" : "old"
    }
  }

  /// Whether the store is of the new version; checks that it is whole, of one or the other.
  private func isMigrated(type: String, items: Int, after delay: Int) async throws -> Bool {
    if type == StoreTypeName.sqlite {
      let inspection = try StoreInspection(contentsOf: URL(fileURLWithPath: store), checks: true)
      #expect(inspection.damage.isEmpty, "killed after \(delay) ms: \(inspection.damage)")
      #expect(inspection.entities.first { $0.name == "Item" }?.count == items)
    }
    let plan = try await migrate(store, "--to", package, "--dry-run", "--json")
    #expect(plan.code == 0, "killed after \(delay) ms: \(plan.errors)")
    let isNew = plan.output.contains(#""way":"none""#)
    let isOld =
      plan.output.contains(#""way":"lightweight""#)
      && plan.output.contains(#"{"place":"Item.weight","values":\#(items / 2)}"#)
    #expect(isNew != isOld, "killed after \(delay) ms: \(plan.output)")
    return isNew
  }

  @Test(.enabled(if: fixtures != nil, "CAIRN_APPLE_FIXTURES names no folder"))
  func storesOfApplesFollowTheirModelsByThemselvesAndByMappingModels() async throws {
    let fixtures = try #require(Self.fixtures)
    func take(_ part: String) throws -> String {
      let copy = folder.file(URL(fileURLWithPath: part).lastPathComponent)
      try FileManager.default.copyItem(atPath: "\(fixtures)/\(part)", toPath: copy)
      return copy
    }
    let moody = try take("models/Moody.xcdatamodeld")
    let (first, second) = (
      try take("apple-stores/Moody-1.sqlite"), try take("apple-stores/Moody-2.sqlite")
    )
    for path in [first, second] {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
    let light = try await migrate(first, "--to", moody, "--model-version", "Moody 2")
    #expect(light.code == 0 && light.output.contains("by lightweight migration"), "\(light)")
    #expect(light.output.contains("migrated to Moody 2"))
    _ = try take("mapping-models/Moody 2-Moody 3.xcmappingmodel")
    let mapped = try await migrate(second, "--to", moody, "--model-version", "Moody 3")
    #expect(mapped.code == 0 && mapped.output.contains("by the mapping model"), "\(mapped)")
    let inspection = try StoreInspection(contentsOf: URL(fileURLWithPath: second), checks: true)
    #expect(inspection.damage.isEmpty)
    #expect(inspection.entities.first { $0.name == "Mood" }?.count == 4)
    let foreign = try await migrate(
      try take("apple-stores/Recipes.sqlite"), "--to", moody, "--dry-run")
    #expect(foreign.errors.contains("neither in \(moody) nor in the store"), "\(foreign.errors)")
  }

  @Test(.enabled(if: fixtures != nil, "CAIRN_APPLE_FIXTURES names no folder"))
  func aMigrationByMappingModelThatIsKilledLeavesTheOldStoreOrTheNewOne() async throws {
    let fixtures = try #require(Self.fixtures)
    let moody = "\(fixtures)/models/Moody.xcdatamodeld"
    let moods = 400
    try makeMoods(moods, models: moody)
    // As in a project: the mapping model beside the package.
    let (models, name) = (folder.file("models"), "Moody 2-Moody 3.xcmappingmodel")
    try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
    let package = "\(models)/Moody.xcdatamodeld"
    try FileManager.default.copyItem(atPath: moody, toPath: package)
    try FileManager.default.copyItem(
      atPath: "\(fixtures)/mapping-models/\(name)", toPath: "\(models)/\(name)")
    let arguments = ["--to", package, "--model-version", "Moody 3"]
    let migration = KilledMigration(store: store, arguments: arguments)
    _ = try await migration.run { delay in
      let inspection = try StoreInspection(contentsOf: URL(fileURLWithPath: store), checks: true)
      #expect(inspection.damage.isEmpty, "killed after \(delay) ms: \(inspection.damage)")
      #expect(inspection.entities.first { $0.name == "Mood" }?.count == moods)
      let plan = try await migrate(store, arguments + ["--dry-run", "--json"])
      let isNew = plan.output.contains(#""way":"none""#)
      #expect(isNew != plan.output.contains(#""way":"mapping""#), "\(delay) ms: \(plan)")
      let finished = try await migrate(store, arguments + ["--no-backup"])
      #expect(finished.code == 0, "\(finished.errors)")
      try migration.checkNothingIsLeft()
      return isNew ? "new" : "old"
    }
  }

  /// A store of the second version of Moody with that many moods, copies of those of Apple's store.
  private func makeMoods(_ count: Int, models: String) throws {
    let fixtures = try #require(Self.fixtures)
    try Data(contentsOf: URL(fileURLWithPath: "\(fixtures)/apple-stores/Moody-2.sqlite"))
      .write(to: URL(fileURLWithPath: store))
    let model = try ModelPackage(contentsOf: URL(fileURLWithPath: models)).model(named: "Moody 2")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: URL(fileURLWithPath: store),
      options: [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Mood")
      let first = try #require(try context.fetch(request).first)
      let names = first.entity.propertiesByName.filter { name, property in
        !property.isTransient && (property as? RelationshipDescription)?.isToMany != true
      }.keys
      for _ in 0..<(count - (try context.count(for: request))) {
        let copy = ManagedObject(entity: first.entity, insertInto: context)
        for name in names { copy.setValue(first.value(forKey: name), forKey: name) }
      }
      try context.save()
    }
    try coordinator.remove(opened)
  }
}
