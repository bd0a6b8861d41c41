import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 6: data outside the database.
///
/// That files go only after the commit is shown by the fault tests in `CairnTests/Reliability`.
@Suite struct Chapter06ExternalDataTests {
  private func column(_ fixture: StoreFixture, _ key: Int) throws -> String {
    try fixture.column("SELECT hex(ZPHOTO) FROM ZEMPLOYEE WHERE Z_PK = \(key)")[0]
  }

  private func files(_ fixture: StoreFixture) -> [String] {
    let folder = fixture.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
    return (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
  }

  @Test func smallDataStandsInTheColumnAfterATag() throws {
    let fixture = try StoreFixture()
    let largest = Data(repeating: 0xab, count: ExternalDataFiles.threshold)
    try fixture.insert([
      try fixture.row("Employee", ["photo": .data(Data([2, 1]))]),
      try fixture.row("Employee", ["photo": .data(largest)]),
      try fixture.row("Employee", ["photo": .data(Data())]), try fixture.row("Employee"),
    ])
    #expect(try column(fixture, 1) == "010201")
    #expect(try column(fixture, 2).hasPrefix("01ABAB"))
    #expect(try column(fixture, 3) == "01")
    #expect(try fixture.column("SELECT ZPHOTO FROM ZEMPLOYEE WHERE Z_PK = 4") == ["NULL"])
    #expect(files(fixture).isEmpty)
  }

  @Test func largeDataIsAFileThatTheColumnNames() throws {
    let fixture = try StoreFixture()
    let data = Data(repeating: 5, count: ExternalDataFiles.threshold + 1)
    try fixture.insert([try fixture.row("Employee", ["photo": .data(data)])])
    let name = try #require(files(fixture).first)
    #expect(files(fixture).count == 1)
    #expect(UUID(uuidString: name)?.uuidString == name)
    let stored = "\u{2}\(name)\u{0}".utf8.map { String(format: "%02X", $0) }.joined()
    #expect(try column(fixture, 1) == stored)
    #expect(stored.count == 76)
    // Raw content, no tag.
    #expect(fixture.store.files.data(ofFile: name) == data)
  }

  @Test func aLinkInThePlaceOfAFileIsNotFollowed() throws {
    let fixture = try StoreFixture()
    let data = Data(repeating: 5, count: ExternalDataFiles.threshold + 1)
    try fixture.insert([try fixture.row("Employee", ["photo": .data(data)])])
    let name = try #require(files(fixture).first)
    let file = fixture.store.files.folder.appendingPathComponent(name)
    let secret = fixture.folder.appendingPathComponent("secret")
    try Data("not of the store".utf8).write(to: secret)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: secret)
    #expect(fixture.store.files.data(ofFile: name) == nil)
    let error = #expect(throws: CoreDataError.self) {
      try fixture.store.files.contents(ofFile: name)
    }
    #expect(error.map { "\($0.underlyingError ?? $0)" }?.contains("no plain file") == true)
  }

  @Test func theFileGoesWithTheValueAndWithTheRow() throws {
    let fixture = try StoreFixture()
    let large = { (byte: UInt8) in
      AttributeValue.data(Data(repeating: byte, count: ExternalDataFiles.threshold + 1))
    }
    let rows = try fixture.insert([
      try fixture.row("Employee", ["photo": large(1)]),
      try fixture.row("Employee", ["photo": large(2)]),
    ])
    let first = files(fixture)
    let changed = try fixture.change(rows[0], ["photo": large(3)])
    #expect(files(fixture).count == 2)
    #expect(files(fixture) != first)
    let emptied = try fixture.change(changed, ["photo": .data(Data([1]))])
    #expect(files(fixture).count == 1)
    // A change of another attribute leaves it alone.
    _ = try fixture.change(rows[1], ["age": .integer(1)])
    #expect(files(fixture).count == 1)
    try fixture.delete(emptied)
    _ = try fixture.store.executeBatch(
      .delete(StoreFetchRequest(entity: fixture.entity("Employee"))), author: nil, contextName: nil)
    #expect(files(fixture).isEmpty)
  }

  @Test func columnsWithoutTheFlagHaveNoTagAndAMigrationAddsIt() throws {
    let plain = EntityDescription(
      name: "Item", properties: [FormatModel.attribute("data", .binaryData)])
    let old = try FormatModel.make(plain)
    let fixture = try StoreFixture(model: old)
    let row = try fixture.row("Item", ["data": .data(Data([1, 7]))])
    try fixture.insert([row])
    #expect(try fixture.column("SELECT hex(ZDATA) FROM ZITEM") == ["0107"])
    try fixture.store.close()
    let tagged = EntityDescription(
      name: "Item", properties: [FormatModel.attribute("data", .binaryData, external: true)])
    let new = try FormatModel.make(tagged)
    #expect(old.entityVersionHashesByName != new.entityVersionHashesByName)
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: new, options: StoreOptions())
    #expect(try fixture.column("SELECT hex(ZDATA) FROM ZITEM") == ["010107"])
    let store = try StoreFixture.open(fixture.url, new)
    guard
      case .snapshots(let rows) = try store.fetch(StoreFetchRequest(entity: tagged))
    else { return }
    #expect(rows.map { fixture.value($0, "data") } == [.data(Data([1, 7]))])
    try store.close()
  }

  @Test func aTransformableMayBeOutsideToo() throws {
    let item = EntityDescription(
      name: "Item", properties: [FormatModel.attribute("shape", .transformable, external: true)])
    let fixture = try StoreFixture(model: try FormatModel.make(item))
    let large = Data(repeating: 9, count: 150_000)
    let rows = try fixture.insert([
      try fixture.row("Item", ["shape": .data(large)]),
      try fixture.row("Item", ["shape": .data(Data([4]))]),
    ])
    #expect(files(fixture).count == 1)
    #expect(try fixture.column("SELECT hex(ZSHAPE) FROM ZITEM WHERE Z_PK = 2") == ["0104"])
    let read = try fixture.store.snapshots(for: rows.map(\.objectID))
    #expect(read.map { $0.map { fixture.value($0, "shape") } } == [.data(large), .data(Data([4]))])
  }

  @Test func theFolderMovesAndGoesWithTheStore() throws {
    let fixture = try StoreFixture()
    let data = Data(repeating: 5, count: ExternalDataFiles.threshold + 1)
    let row = try fixture.insert([try fixture.row("Employee", ["photo": .data(data)])])[0]
    try fixture.store.close()
    let copy = fixture.folder.appendingPathComponent("Other.name.sqlite")
    try SQLiteStoreKind().replace(at: copy, withStoreAt: fixture.url, options: StoreOptions())
    let folder = fixture.folder.appendingPathComponent(".Other.name_SUPPORT/_EXTERNAL_DATA")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    let store = try StoreFixture.open(copy, fixture.model)
    let id = ManagedObjectID(
      entity: try fixture.entity("Employee"), storeIdentity: store.identity,
      key: .row(row.objectID.rowKey ?? 0))
    #expect(try store.snapshots(for: [id])[0].map { fixture.value($0, "photo") } == .data(data))
    try store.close()
    try SQLiteStoreKind().destroy(at: copy, options: StoreOptions())
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    #expect(files(fixture).count == 1)
  }
}
