// Rows whose values are long, through the control socket.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct LongRowTests {
  @Test func rowsOfMegabytesAreReadAndExportedAndOneThatNoAnswerHoldsIsNamed() async throws {
    let folder = try TemporaryFolder()
    let package = try WrittenPackage(
      folder.file("Pictures.xcdatamodeld"), current: "One",
      [
        (
          "One",
          "<entity name=\"Picture\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
            + "<attribute name=\"data\" optional=\"YES\" attributeType=\"String\"/></entity>"
        )
      ])
    let daemon = try Daemon(in: folder, .init(model: package.path))
    try await daemon.start()
    let application = try ApplicationStore(
      model: "\(package.path)/One.xcdatamodel", path: daemon.localPath)
    func insert(_ name: String, _ bytes: Int) throws {
      try application.insert(
        "Picture", ["name": name, "data": String(repeating: "x", count: bytes)])
    }
    // 17 MB in all, more than an answer holds.
    for index in 0..<17 { try insert("p\(index)", 1_000_000) }
    let fetched = try await daemon.ctl("fetch", "Picture", "--format", "jsonl")
    #expect(fetched.code == 0, "\(fetched.errors)")
    #expect(fetched.output.split(separator: "\n").count == 17)
    let exported = try await daemon.ctl("export")
    #expect(exported.code == 0, "\(exported.errors)")
    #expect(exported.output.split(separator: "\n").count == 17)
    try insert("huge", 17 << 20)
    let huge = "name == 'huge'"
    for arguments in [
      ["fetch", "Picture", "--where", huge, "--format", "jsonl"],
      ["export", "--entity", "Picture", "--where", huge],
    ] {
      let refused = try await daemon.ctl(arguments)
      #expect(refused.code == 1, "\(arguments)")
      #expect(refused.errors.contains("for Picture "), "\(refused.errors.prefix(500))")
      #expect(refused.errors.contains("alone; leave its long values out"))
    }
    let names = try await daemon.ctl("fetch", "Picture", "--properties", "name")
    #expect(names.code == 0 && names.output.contains("huge"), "\(names.errors)")
    #expect(await daemon.stop() == 0)
  }

  private static func write(_ name: String, _ attributes: String, in folder: TemporaryFolder) throws
    -> String
  {
    try TestModel.write(
      name, in: folder,
      contents: """
        <entity name="Picture" representedClassName="Picture" syncable="YES">
          <attribute name="name" attributeType="String"/>
          \(attributes)
          <uniquenessConstraints>
            <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
          </uniquenessConstraints>
        </entity>
        """)
  }

  /// As text, 0.9 MB of bytes take 1.2 MB, more than one call may have.
  @Test(.timeLimit(.minutes(5)))
  func anImportOfExportedBlobsOfMegabytesMakesAnEqualStoreAndReplica() async throws {
    let folder = try TemporaryFolder()
    let model = try Self.write(
      "Pictures",
      """
      <attribute name="data" optional="YES" attributeType="Binary"/>
      <attribute name="file" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="text" optional="YES" attributeType="String"/>
      """, in: folder)
    let source = try Daemon(in: folder, .init(name: "source", model: model))
    let target = try Daemon(
      in: folder,
      .init(name: "target", model: model, replicas: [("near", folder.file("near.sqlite"))]))
    try await source.start()
    try await target.start()
    var numbers = SeededNumbers(seed: 1)
    let words = (0..<(900_000 / 8)).map { _ in numbers.next() }
    let blob = words.withUnsafeBytes { Data($0) }.base64EncodedString()
    let text = String(repeating: "é\\\"\\n\\u0001", count: 100_000)
    let rows = [
      #"{"name":"small","data":"AAEC"}"#, "{\"name\":\"blob\",\"data\":\"\(blob)\"}",
      "{\"name\":\"file\",\"file\":\"\(blob)\"}",
      #"{"name":"between"}"#, "{\"name\":\"text\",\"text\":\"\(text)\"}",
    ]
    let first = try await source.ctl(
      "import", "-", "--entity", "Picture", "--key", "name", input: rows.joined(separator: "\n"))
    #expect(first.code == 0, "\(first.errors.prefix(500))")
    #expect(first.output.hasPrefix("5 rows: 5 inserted"), "\(first.output)")
    let exported = try await source.ctl("export")
    #expect(exported.code == 0 && exported.output.utf8.count > 2_300_000, "\(exported.errors)")
    let second = try await target.ctl("import", "-", input: exported.output)
    #expect(second.code == 0, "\(second.errors.prefix(500))")
    let again = try await target.ctl("export")
    // Not shown where they differ: they are long.
    let isEqual = again.output == exported.output
    #expect(isEqual)
    let third = try await target.ctl("import", "-", input: exported.output)
    #expect(third.output.contains("0 inserted, 0 updated, 5 unchanged"), "\(third.output)")
    #expect(try await target.ctl("wait", "--timeout", "120").code == 0)
    #expect(try await target.ctl("verify").code == 0)
    let replica = try await target.ctl("export", "--store", "near")
    let isReplicaEqual = replica.output == exported.output
    #expect(isReplicaEqual, "\(replica.errors)")
    #expect(await source.stop() == 0)
    #expect(await target.stop() == 0)
  }

  @Test func partsOfARowBelongToTheirConnectionAndToTheNextImportOnIt() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder, .init(model: try Self.write("Pictures", "", in: folder)))
    try await daemon.start()
    try await offPool {
      func part(_ text: String) -> ImportRecords.Parameters {
        .init(entity: "Picture", rows: [], lines: [], part: text)
      }
      let whole = ImportRecords.Parameters(entity: "Picture", rows: [], lines: [3], key: ["name"])
      let (first, second) = (try daemon.client(), try daemon.client())
      _ = try first.call(ImportRecords.self, part("{\"name\":"))
      #expect(throws: ControlError.invalidParameter("lines")) {
        try second.call(ImportRecords.self, whole)
      }
      _ = try first.call(ImportRecords.self, part("\"nut\"}"))
      #expect(try first.call(ImportRecords.self, whole).inserted == 1)
      #expect(throws: ControlError.invalidParameter("lines")) {
        try first.call(ImportRecords.self, whole)
      }
      // A part that is not taken is no row of another import, nor in its way.
      _ = try first.call(ImportRecords.self, part("{}"))
      let bolt = ImportRecords.Parameters(
        entity: "Picture", rows: [["name": "bolt"]], lines: [1], key: ["name"])
      #expect(throws: ControlError.invalidParameter("rows")) {
        try first.call(ImportRecords.self, bolt)
      }
      #expect(try first.call(ImportRecords.self, bolt).inserted == 1)
      let error = #expect(throws: ControlError.self) {
        _ = try first.call(ImportRecords.self, part("{\"nme\":1}"))
        _ = try first.call(ImportRecords.self, whole)
      }
      #expect(error?.fields["line"] == .integer(3), "\(String(describing: error))")
      #expect(throws: ControlError.invalidParameter("part")) {
        var both = part("{}")
        both.lines = [1]
        _ = try first.call(ImportRecords.self, both)
      }
    }
    #expect(try await daemon.values("Picture", "name") == ["bolt", "nut"])
    #expect(await daemon.stop() == 0)
  }
}
