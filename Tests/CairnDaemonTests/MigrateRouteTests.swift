// `cairnctl migrate` through several versions, and before constraints that rows would break.
import Cairn
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct MigrateRouteTests {
  private let folder: TemporaryFolder
  private let package: WrittenPackage
  private var store: String { folder.file("Box.sqlite") }

  /// A label is renamed twice, so that the third version knows the first one's only by the second; the
  /// fourth has numbers for texts by way of a version without them; the fifth wants texts to be unique.
  init() throws {
    folder = try TemporaryFolder()
    func item(_ attributes: String, _ rest: String = "") -> String {
      "<entity name=\"Item\"><attribute name=\"number\" optional=\"YES\" attributeType=\"Integer 64\"/>"
        + "\(attributes)\(rest)</entity>"
    }
    let second =
      #"<attribute name="title" optional="YES" attributeType="String" elementID="label"/>"#
    let third = #"<attribute name="name" optional="YES" attributeType="String" elementID="title"/>"#
    let unique =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"label\"/></uniquenessConstraint>"
      + "</uniquenessConstraints>"
    let label = #"<attribute name="label" optional="YES" attributeType="String"/>"#
    package = try WrittenPackage(
      folder.file("Box.xcdatamodeld"), current: "Third",
      [
        ("First", item(label)),
        ("Second", item(second)),
        ("Third", item(third)),
        ("Bare", item("")),
        ("Numbers", item(#"<attribute name="label" optional="YES" attributeType="Double"/>"#)),
        ("Unique", item(label, unique)),
      ])
  }

  private func migrate(_ arguments: String...) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, ["migrate", store, "--to", package.path] + arguments)
  }

  /// A store of the first version.
  private func makeStore(_ labels: [String?], type: String = StoreTypeName.sqlite) throws {
    try package.withStore(store, "First", type: type) { context in
      for label in labels {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(label, forKey: "label")
      }
    }
  }

  private func values(
    _ key: String, _ version: String, type: String = StoreTypeName.sqlite
  ) throws -> Set<String> {
    try package.withStore(store, version, type: type) { context in
      let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      return Set(items.compactMap { $0.value(forKey: key) as? String })
    }
  }

  private var bytes: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: store)) } }

  @Test(arguments: [StoreTypeName.sqlite, StoreTypeName.xml, StoreTypeName.binary])
  func whatIsRenamedTwiceGoesThroughTheVersionInBetween(type: String) async throws {
    try makeStore(["a", "b", nil], type: type)
    let before = try bytes
    let dry = try await migrate("--dry-run")
    #expect(dry.code == 0, "\(dry.errors)")
    let ways = dry.output.split(separator: "\n").filter {
      $0.hasPrefix("from  ") || $0.hasPrefix("to    ")
    }.compactMap { $0.split(separator: " ").dropFirst().first?.dropLast() }
    #expect(ways == ["First", "Second", "Second", "Third"], "\(dry.output)")
    #expect(try bytes == before)
    let done = try await migrate()
    #expect(done.code == 0, "\(done.errors)")
    #expect(done.output.contains("migrated to Third"), "\(done.output)")
    #expect(try values("name", "Third", type: type) == ["a", "b"], "nothing is lost on the way")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasSuffix(".migrating") }, "\(left)")
    let again = try await migrate()
    #expect(again.output.contains("is of Third already"))
  }

  @Test func killedAnywhereOnTheWayTheFileIsOfTheFirstVersionOrTheLast() async throws {
    let labels = Set((0..<2000).map { "label \($0)" })
    try makeStore(labels.sorted())
    let migration = KilledMigration(store: store, arguments: ["--to", package.path])
    let ends = try await migration.run(until: "Third") { delay in
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        ofType: StoreTypeName.sqlite, at: URL(fileURLWithPath: store))
      let version = try ["First", "Second", "Third"].first {
        try package.model($0).isConfiguration(
          withName: nil, compatibleWithStoreMetadata: metadata)
      }
      let finished = try await migrate("--no-backup")
      #expect(finished.code == 0, "killed after \(delay) ms: \(finished.errors)")
      #expect(try values("name", "Third") == labels, "killed after \(delay) ms")
      return version ?? "none"
    }
    #expect(Set(ends.keys).isSubset(of: ["First", "Third"]), "\(ends)")
  }

  @Test func whatIsDroppedOnTheWayIsCountedAndNeedsConsent() async throws {
    try makeStore(["1", "2", nil])
    let before = try bytes
    let refused = try await migrate("--model-version", "Numbers")
    #expect(refused.code == 1, "\(refused.output)")
    #expect(refused.errors.contains("values would be dropped: Item.label (2)"), "\(refused.errors)")
    #expect(try bytes == before)
    let done = try await migrate("--model-version", "Numbers", "--allow-drop")
    #expect(done.code == 0, "\(done.errors)")
    let (count, numbers) = try package.withStore(store, "Numbers") { context in
      let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      return (items.count, items.compactMap { $0.value(forKey: "label") as? Double })
    }
    #expect(count == 3 && numbers.isEmpty)
  }

  @Test(arguments: [StoreTypeName.sqlite, StoreTypeName.xml])
  func rowsThatBreakANewConstraintAreNamedBeforeAnythingIsDone(type: String) async throws {
    try makeStore(["a", "b", "a", nil, nil, "c", "c", "c"], type: type)
    let before = try bytes
    for arguments in [["--dry-run"], []] {
      let program = try #require(Project.program("cairnctl"))
      let outcome = try await run(
        program,
        ["migrate", store, "--to", package.path, "--model-version", "Unique"] + arguments,
        environment: ["COLUMNS": "400"])
      let text = outcome.output + outcome.errors
      #expect(outcome.code == (arguments.isEmpty ? 1 : 0), "\(outcome)")
      #expect(text.contains("Item.label: it must be unique"), "\(text)")
      #expect(text.contains("5 rows share a value"), "\(text)")
      #expect(text.matches(of: /Item\/[pt]?\w+/).count >= 5, "the rows are named: \(text)")
      #expect(try bytes == before)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains("backup") }, "\(left)")
  }

  @Test func rowsWithoutAValueBreakNoConstraint() async throws {
    try makeStore(["a", "b", nil, nil])
    let done = try await migrate("--model-version", "Unique")
    #expect(done.code == 0, "\(done.errors)")
    #expect(try values("label", "Unique") == ["a", "b"])
  }
}
