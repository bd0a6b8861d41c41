import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// What is saved comes back as it was.
@Suite struct RowTests {
  @Test func everyKindOfValueComesBack() throws {
    let fixture = try StoreFixture()
    let badge = UUID()
    let values: [String: AttributeValue] = [
      "name": .string("Zoë \u{0} \"quoted\" 'n 🐟"), "age": .integer(-5),
      "salary": .decimal(Decimal(string: "10.11") ?? 0), "rating": .double(1.0 / 3),
      "score": .float(0.1), "isActive": .boolean(true),
      "born": .date(Date(timeIntervalSinceReferenceDate: -12345.678)), "badge": .uuid(badge),
      "site": .url(URL(fileURLWithPath: "/a b")), "data": .data(Data([0, 1, 255])),
      "photo": .data(Data()),
    ]
    let inserted = try fixture.insert([try fixture.row("Employee", values)])
    let stored = try #require(try fixture.store.snapshots(for: [inserted[0].objectID])[0])
    for (name, value) in values { #expect(fixture.value(stored, name) == value, "\(name)") }
    #expect(stored.version == 1)
    #expect(fixture.value(stored, "company") == .null)
    #expect(inserted[0].values == stored.values)
  }

  @Test func aValueThatSQLiteCannotHoldIsReportedAsStored() throws {
    let fixture = try StoreFixture()
    let long = Decimal(string: "0.12345678901234567890123") ?? 0
    let rows = try fixture.insert([
      try fixture.row("Employee", ["rating": .double(.nan), "salary": .decimal(long)])
    ])
    let stored = try #require(try fixture.store.snapshots(for: [rows[0].objectID])[0])
    #expect(rows[0].values == stored.values)
    #expect(fixture.value(stored, "rating") == .null)
  }

  /// SQLite holds them as doubles, whose text has an exponent that Foundation reads no decimal of.
  @Test func aDecimalOfTheGreatestExponentsComesBackAsItsDouble() throws {
    let fixture = try StoreFixture()
    for (text, double) in [
      ("12345678901234567890123456789012345678e120", "12345678901234568e141"),
      ("-12345678901234567890123456789012345678e120", "-12345678901234568e141"),
    ] {
      let salary = try #require(Decimal(string: text))
      let rows = try fixture.insert([try fixture.row("Employee", ["salary": .decimal(salary)])])
      let stored = try #require(try fixture.store.snapshots(for: [rows[0].objectID])[0])
      guard case .decimal(let read) = fixture.value(stored, "salary") else {
        Issue.record("\(text) reads as \(fixture.value(stored, "salary"))")
        continue
      }
      #expect(Double("\(read)") == Double(double))
      #expect(rows[0].values == stored.values)
    }
  }

  @Test func shortReadsSeeEveryCommitAtOnce() throws {
    let fixture = try StoreFixture()
    let other = try fixture.another()
    defer { try? other.close() }
    var row = try fixture.insert([try fixture.row("Project", ["title": .string("0")])])[0]
    for round in 1...50 {
      let writer = round.isMultiple(of: 2) ? other : fixture.store
      var request = SaveChangesRequest()
      request.updates = [fixture.update(row, ["title": .string("\(round)")])]
      _ = try fixture.receipt(writer.save(request))
      for reader in [fixture.store, other] {
        row = try #require(try reader.snapshots(for: [row.objectID])[0])
        #expect(fixture.value(row, "title") == .string("\(round)"))
      }
    }
  }

  @Test func transientValuesAreNotKept() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee", ["scratch": .string("gone")])
    ])
    #expect(fixture.value(rows[0], "scratch") == .null)
  }

  @Test func largeExternalDataGoesToAFileAndTheFileGoesWithTheRow() throws {
    let fixture = try StoreFixture()
    let photo = Data(repeating: 7, count: 200_000)
    let rows = try fixture.insert([
      try fixture.row("Employee", ["photo": .data(photo)]),
      try fixture.row("Employee", ["photo": .data(Data([1, 2]))]),
    ])
    let folder = fixture.store.files.folder.path
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    let stored = try #require(try fixture.store.snapshots(for: [rows[0].objectID])[0])
    #expect(fixture.value(stored, "photo") == .data(photo))
    #expect(try fixture.column("SELECT hex(ZPHOTO) FROM ZEMPLOYEE WHERE Z_PK = 2") == ["010102"])
    var request = SaveChangesRequest()
    request.deletions = [.init(snapshot: stored)]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test func aKeyToASubentityGivesItsExactEntity() throws {
    let fixture = try StoreFixture()
    let boss = try fixture.row("Manager", ["name": .string("M"), "level": .integer(3)])
    let worker = try fixture.row("Employee", ["boss": .object(boss.objectID)])
    try fixture.insert([boss, worker])
    let found = try fixture.fetch("Employee", "boss != nil")
    #expect(found.map(\.objectID) == [worker.objectID])
    guard case .object(let id) = fixture.value(found[0], "boss") else {
      Issue.record("no boss")
      return
    }
    #expect(id.entity.name == "Manager")
    let all = try fixture.fetch("Employee", sort: "name")
    #expect(all.map { $0.objectID.entity.name } == ["Employee", "Manager"])
    #expect(try fixture.fetch("Manager").count == 1)
  }

  @Test func rowsAreReadInTheOrderAskedForWithNilForMissingOnes() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert(try (0..<20).map { _ in try fixture.row("Project") })
    let missing = try fixture.store.obtainPermanentIDs(for: [fixture.entity("Project")])[0]
    let wanted = [rows[3], rows[1]].map(\.objectID) + [missing] + rows.map(\.objectID)
    let found = try fixture.store.snapshots(for: wanted).map { $0?.objectID }
    #expect(found == [rows[3].objectID, rows[1].objectID, nil] + rows.map { $0.objectID })
  }
}
