// What `cairnctl export` writes, and that `cairnctl import` makes an equal store of it.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct ExportTests {
  /// Two daemons with empty stores of one model.
  private func daemons(model: String? = nil) async throws -> (source: Daemon, target: Daemon) {
    let folder = try TemporaryFolder()
    var daemons: [Daemon] = []
    for name in ["source", "target"] {
      var setup = Daemon.Setup(name: name)
      if let model { setup.model = try Self.write(model, in: folder) }
      let daemon = try Daemon(in: folder, setup)
      try await daemon.start()
      daemons.append(daemon)
    }
    return (daemons[0], daemons[1])
  }

  private static func write(_ model: String, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("Yard.xcdatamodel")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      \(model)
      </model>
      """
    try text.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
    return path
  }

  private func succeed(_ daemon: Daemon, _ arguments: String..., input: String = "") async throws
    -> Outcome
  {
    let outcome = try await daemon.ctl(arguments, input: input)
    #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
    return outcome
  }

  private static let packages = """
    {"name":"p1","section":{"name":"s1"},"maintainer":{"name":"m1"},"summary":"a, \\"b\\"\\nc","version":""}
    {"name":"p2","section":{"name":"s1"},"installedSize":"9007199254740993","isEssential":true}
    {"name":"p3","dependencies":[{"name":"p1"},{"name":"p2"}],"architecture":"{ \u{1F600}"}
    {"name":"p1","dependencies":[{"name":"p3"}]}
    """

  @Test func anImportOfAnExportMakesAnEqualStore() async throws {
    let (source, target) = try await daemons()
    _ = try await succeed(
      source, "import", "-", "--entity", "Package", "--key", "name", input: Self.packages)
    let exported = try await succeed(source, "export")
    #expect(exported.errors == "")
    #expect(exported.output.split(separator: "\n").count == 7, "\(exported.output)")
    let imported = try await succeed(target, "import", "-", input: exported.output)
    #expect(
      imported.output == "7 rows: 5 inserted, 2 updated, 0 unchanged, 0 related created\n")
    #expect(try await succeed(target, "export").output == exported.output)
    // Once more changes nothing.
    let again = try await succeed(target, "import", "-", input: exported.output)
    #expect(
      again.output.contains(" 0 inserted, 0 updated, 7 unchanged, 0 related"), "\(again.output)")
    // The file itself, without the daemon.
    #expect(await source.stop() == 0)
    let file = try await target.ctl("export", "--file", source.localPath)
    #expect(file.output == exported.output, "\(file.errors)")
    #expect(await target.stop() == 0)
  }

  /// Many reads in one export, with a commit that adds a record and deletes one before the last of them.
  @Test func allOfAnExportIsOfOneMomentWhateverIsWrittenMeanwhile() async throws {
    let (source, target) = try await daemons()
    let rows = (0..<3000).map { "{\"name\":\"s\($0)\"}" }
    _ = try await succeed(
      source, "import", "-", "--entity", "Section", "--key", "name",
      input: rows.joined(separator: "\n"))
    let reads = 20
    let (counts, last) = try await offPool {
      let (client, other) = (try source.client(), try source.client())
      // So much that the daemon waits for its reader long before the last read.
      var fetches = Array(
        repeating: ExportRecords.Fetch(entity: "Section", properties: ["name"]), count: reads)
      fetches.append(.init(entity: "Section", properties: ["name"], records: true))
      try client.send(ExportRecords.self, .init(fetches: fetches))
      var counts: [Int: Int] = [:]
      var last: [[String: JSONValue]] = []
      while true {
        let (reply, continues) = try client.receive(ExportRecords.self)
        if let fetch = reply.fetch { counts[fetch, default: 0] += reply.rows.count }
        if counts.count == 1, counts[0] == reply.rows.count { try Self.change(other) }
        if reply.fetch == reads { last += reply.rows }
        if !continues { break }
      }
      return (counts, last)
    }
    #expect(counts.count == reads + 1 && Set(counts.values) == [3000], "\(counts)")
    let names = Set(last.compactMap { $0["name"]?.stringValue })
    #expect(names.contains("s0") && !names.contains("new"))
    #expect(Set(last.compactMap { $0["record"]?.stringValue }).count == 3000)
    let now = try await succeed(source, "export", "--entity", "Section").output
    #expect(now.contains("\"new\"") && !now.contains("\"s0\""))
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  /// Deletes one section and makes another.
  private static func change(_ client: ControlClient) throws {
    var found: String?
    try client.stream(
      FetchRecords.self, .init(entity: "Section", predicate: "name == 's0'")
    ) { reply in found = found ?? reply.rows.first?["id"]?.stringValue }
    _ = try client.call(
      SaveRecords.self,
      .init(
        inserts: [.init(entity: "Section", values: ["name": .string("new")])],
        deletes: [.init(entity: "Section", id: try #require(found))]))
  }

  @Test func aReaderThatHasSeenEnoughIsNoFailure() async throws {
    let daemon = try Daemon(in: try TemporaryFolder())
    try await daemon.start()
    let rows = (0..<3000).map { "{\"name\":\"s\($0)\"}" }
    _ = try await succeed(
      daemon, "import", "-", "--entity", "Section", input: rows.joined(separator: "\n"))
    try await offPool {
      let client = try daemon.client()
      let fetch = ExportRecords.Fetch(entity: "Section", properties: ["name"])
      // So much that the daemon waits for its reader.
      try client.send(
        ExportRecords.self, .init(fetches: Array(repeating: fetch, count: 100)))
      _ = try client.receive(ExportRecords.self)
      client.close()
    }
    #expect(await daemon.logs("a connection ended"))
    #expect(!daemon.logText.contains("event=callFailed"), "\(daemon.log(last: 5))")
    #expect(await daemon.stop() == 0)
  }

  /// Writers that commit a package and its section together: no exported package lacks its section.
  @Test func whatIsCommittedTogetherIsExportedTogether() async throws {
    let (source, target) = try await daemons()
    let writing = Task {
      for index in 0..<60 {
        let line = "{\"name\":\"p\(index)\",\"section\":{\"name\":\"s\(index)\"}}"
        _ = try await source.ctl(
          "import", "-", "--entity", "Package", "--key", "name", input: line)
      }
    }
    for _ in 0..<6 {
      let export = try await succeed(source, "export")
      #expect(export.errors == "", "no reference is by ID")
      let lines = export.output.split(separator: "\n")
      let sections = lines.count { $0.contains(#""entity":"Section""#) }
      let packages = lines.count { $0.contains(#""entity":"Package""#) }
      #expect(sections == packages, "\(sections) sections, \(packages) packages")
    }
    try await writing.value
    let last = try await succeed(source, "export").output
    _ = try await succeed(target, "import", "-", input: last)
    #expect(try await succeed(target, "export").output == last)
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  @Test func anImportOfAnExportedTableMakesEqualRecords() async throws {
    let (source, target) = try await daemons()
    _ = try await succeed(
      source, "import", "-", "--entity", "Package", "--key", "name", input: Self.packages)
    let csv = try await succeed(source, "export", "--entity", "Package", "--format", "csv").output
    #expect(csv.contains(#""a, ""b""\#nc","","#), "\(csv)")
    _ = try await succeed(
      target, "import", "-", "--entity", "Package", "--key", "name", "--format", "csv", input: csv)
    #expect(try await succeed(target, "export").output == succeed(source, "export").output)
    let some = try await succeed(
      source, "export", "--entity", "Package", "--where", "section.name == 's1' AND version != nil")
    #expect(some.output.split(separator: "\n").count == 2, "\(some.output)")
    #expect(some.output.contains(#""name":"p1""#) && !some.output.contains(#""name":"p2""#))
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  @Test func aTableTellsNoBytesFromNoValue() async throws {
    let entity = """
      <entity name="Blob">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="data" optional="YES" attributeType="Binary"/>
      </entity>
      """
    let (source, target) = try await daemons(model: entity)
    _ = try await succeed(
      source, "import", "-",
      input: """
        {"entity":"Blob","name":"","data":""}
        {"entity":"Blob","name":null,"data":null}
        {"entity":"Blob","name":"c","data":"AAE="}
        """)
    let csv = try await succeed(source, "export", "--entity", "Blob", "--format", "csv").output
    _ = try await succeed(
      target, "import", "-", "--entity", "Blob", "--format", "csv", input: csv)
    #expect(try await succeed(target, "export").output == succeed(source, "export").output)
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  /// People with an address each, which has a place in it.
  private static let people = """
    <entity name="Person">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="addr" optional="YES" attributeType="Composite" composite="Address"/>
      <uniquenessConstraints>
        <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
      </uniquenessConstraints>
    </entity>
    <composite name="Address">
      <attribute name="city" optional="YES" attributeType="String"/>
      <attribute name="geo" optional="YES" attributeType="Composite" composite="Place"/>
    </composite>
    <composite name="Place">
      <attribute name="lat" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
    </composite>
    """

  @Test(arguments: ["jsonl", "csv"])
  func elementsOfCompositeAttributesTravelByTheirPaths(format: String) async throws {
    let (source, target) = try await daemons(model: Self.people)
    _ = try await succeed(
      source, "insert", "Person", "name=Ada", "addr.city=Ulm", "addr.geo.lat=48.4")
    let exported = try await succeed(source, "export", "--entity", "Person", "--format", format)
      .output
    #expect(exported.contains("addr.city") && exported.contains("48.4"), "\(exported)")
    _ = try await succeed(
      target, "import", "-", "--entity", "Person", "--format", format, input: exported)
    let whole = try await succeed(source, "export").output
    #expect(try await succeed(target, "export").output == whole)
    let refused = try await source.ctl("insert", "Person", "name=Bo", "addr=Ulm")
    #expect(refused.code != 0)
    #expect(refused.errors.contains("give its elements: addr.city, addr.geo.lat"))
    #expect(await source.stop() == 0)
    let file = try await target.ctl("export", "--file", source.localPath)
    #expect(file.output == whole, "\(file.errors)")
    #expect(await target.stop() == 0)
  }

  /// An abstract entity, a subentity without a constraint, an order, and a derived attribute.
  private static let yard = """
    <entity name="Thing" isAbstract="YES">
      <attribute name="label" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Box" parentEntity="Thing">
      <attribute name="weight" optional="YES" attributeType="Double"/>
      <relationship name="shelf" maxCount="1" deletionRule="Nullify" destinationEntity="Shelf"
        inverseName="boxes" inverseEntity="Shelf"/>
    </entity>
    <entity name="Crate" parentEntity="Box">
      <attribute name="lid" optional="YES" attributeType="Boolean" usesScalarValueType="NO"/>
    </entity>
    <entity name="Shelf">
      <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES"
        derivationExpression="boxes.@count"/>
      <attribute name="number" attributeType="Integer 32"/>
      <relationship name="boxes" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade"
        destinationEntity="Box" inverseName="shelf" inverseEntity="Box"/>
      <uniquenessConstraints>
        <uniquenessConstraint><constraint value="number"/></uniquenessConstraint>
      </uniquenessConstraints>
    </entity>
    """

  @Test func orderSubentitiesAndRecordsWithoutAConstraintAreKept() async throws {
    let (source, target) = try await daemons(model: Self.yard)
    _ = try await succeed(
      source, "import", "-",
      input: """
        {"entity":"Box","label":"z","weight":0.1,"shelf":{"number":7}}
        {"entity":"Crate","label":"a","lid":true,"shelf":{"number":7}}
        {"entity":"Box","label":"m","shelf":{"number":8}}
        """)
    let exported = try await succeed(source, "export")
    #expect(exported.errors == "", "\(exported.errors)")
    #expect(!exported.output.contains("\"count\""), "the store computes it")
    #expect(
      exported.output.contains(
        #"{"boxes":[{"label":"z"},{"label":"a"}],"entity":"Shelf","number":7}"#),
      "\(exported.output)")
    _ = try await succeed(target, "import", "-", input: exported.output)
    #expect(try await succeed(target, "export").output == exported.output)
    let counted = try await succeed(
      target, "fetch", "Shelf", "--sort", "number", "--properties", "number,count", "--format",
      "csv")
    #expect(counted.output == "number,count\n7,2\n8,1\n")
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  @Test func whatAnImportCannotTellApartIsSaid() async throws {
    let (source, target) = try await daemons(model: Self.yard)
    _ = try await succeed(
      source, "import", "-",
      input: """
        {"entity":"Box","label":"same","weight":1,"shelf":{"number":7}}
        {"entity":"Box","label":"same","weight":2,"shelf":{"number":7}}
        """)
    let exported = try await succeed(source, "export")
    #expect(exported.errors.contains("note: 2 references to Box are by ID"), "\(exported.errors)")
    // Such an import is refused elsewhere, and changes nothing at home.
    let refused = try await target.ctl(["import", "-"], input: exported.output)
    #expect(refused.code == 1 && refused.errors.contains("standard input:4: "), "\(refused.errors)")
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  @Test(arguments: [
    (["--entity", "Pakage"], 1, "did you mean \"Package\""),
    (["--entity", "Package", "--where", "name =="], 1, "the predicate is wrong"),
    (["--where", "name == 'x'"], 64, "--where goes with one --entity"),
    (["--format", "csv"], 64, "CSV holds one entity"),
    (["--file", "/no/such/store"], 1, "there is no such file"),
    (["--store", "nas"], 1, "there is no store called \"nas\""),
  ])
  func badInputIsNamed(_ arguments: [String], _ code: Int, _ words: String) async throws {
    let daemon = try Daemon(in: try TemporaryFolder())
    try await daemon.start()
    let outcome = try await daemon.ctl(["export"] + arguments)
    #expect(outcome.code == code && outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.output == "")
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: [
    ("{\"name\":\"x\"}\n", "standard input:1: the row does not say its \"entity\""),
    ("{\"entity\":\"Sektion\",\"name\":\"x\"}\n", "did you mean \"Section\""),
    ("{\"entity\":\"Section\",\"name\":\"x\"}\n{\"entity\":7}\n", "standard input:2: "),
  ])
  func aRowThatDoesNotSayWhatItIsIsRefused(_ input: String, _ words: String) async throws {
    let daemon = try Daemon(in: try TemporaryFolder())
    try await daemon.start()
    let outcome = try await daemon.ctl(["import", "-"], input: input)
    #expect(outcome.code == 1 && outcome.errors.contains(words), "\(outcome.errors)")
    #expect(await daemon.stop() == 0)
  }
}
