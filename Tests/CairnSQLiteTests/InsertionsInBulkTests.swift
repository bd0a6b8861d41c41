import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Many new rows are written with one statement, and it makes no difference
/// (core-data-sqlite-format.md, chapter 3; chapter 12.3 of the semantics for what is refused).
@Suite struct InsertionsInBulkTests {
  /// Parts with a unique code, and kinds of them in the same table.
  private func fixture() throws -> StoreFixture {
    let (part, bolt) = (EntityDescription(name: "Part"), EntityDescription(name: "Bolt"))
    part.properties = [
      AttributeDescription(name: "code", type: .string),
      AttributeDescription(name: "weight", type: .double),
      AttributeDescription(name: "price", type: .decimal),
      AttributeDescription(name: "made", type: .date),
      AttributeDescription(name: "note", type: .string),
    ]
    part.uniquenessConstraints = [["code"]]
    bolt.properties = [AttributeDescription(name: "length", type: .integer32)]
    part.subentities = [bolt]
    let model = ManagedObjectModel()
    model.entities = [part, bolt]
    try model.prepareForUse()
    return try StoreFixture(model: model)
  }

  private func rows(
    _ count: Int, _ fixture: StoreFixture, code: (Int) -> String = { "c\($0)" }
  ) throws -> [RowSnapshot] {
    try (0..<count).map { index in
      var values: [String: AttributeValue] = ["code": .string(code(index))]
      if index % 3 != 0 { values["weight"] = .double(index % 7 == 0 ? .nan : Double(index) / 3) }
      if index % 5 == 0 { values["price"] = .decimal(Decimal(index) / 8) }
      if index % 2 == 0 { values["made"] = .date(Date(timeIntervalSinceReferenceDate: 0.1)) }
      values["note"] = .string(String(repeating: "ü", count: index % 11 == 0 ? 5000 : index))
      return try fixture.row(index % 40 < 35 ? "Part" : "Bolt", values)
    }
  }

  @Test(arguments: [1, 15, 16, 17, 31, 32, 33, 200])
  func theReceiptIsWhatIsReadBack(count: Int) throws {
    let fixture = try fixture()
    let receipt = try fixture.insert(try rows(count, fixture))
    #expect(receipt.count == count)
    let stored = try fixture.store.snapshots(for: receipt.map(\.objectID))
    for (row, told) in zip(stored, receipt) {
      #expect(row?.values == told.values && row?.version == 1 && told.version == 1)
      #expect(row?.objectID.entity === told.objectID.entity)
    }
  }

  @Test func theRowThatIsRefusedAmongManyIsTheOneThatIsNamed() throws {
    let fixture = try fixture()
    let taken = try fixture.insert([try fixture.row("Part", ["code": .string("c20")])])[0]
    let new = try rows(60, fixture)
    var request = SaveChangesRequest()
    request.insertions = new.map { .init(snapshot: $0) }
    guard case .constraintViolations(let violations) = try fixture.store.save(request) else {
      Issue.record("no violation")
      return
    }
    #expect(violations.map(\.objectIDs) == [[new[20].objectID]])
    #expect(violations.first?.persisted?.objectID == taken.objectID)
    #expect(try fixture.column("SELECT COUNT(*) FROM ZPART") == ["1"], "nothing was written")
  }

  @Test func rowsThatCollideWithEachOtherAcrossStatementsAreNamedTogether() throws {
    let fixture = try fixture()
    let new = try rows(60, fixture) { $0 == 50 ? "c3" : "c\($0)" }
    var request = SaveChangesRequest()
    request.insertions = new.map { .init(snapshot: $0) }
    guard case .constraintViolations(let violations) = try fixture.store.save(request) else {
      Issue.record("no violation")
      return
    }
    #expect(violations.map { Set($0.objectIDs) } == [[new[3].objectID, new[50].objectID]])
  }

  @Test func aKeyThatIsTakenIsAConflictOfThatRowAlone() throws {
    let fixture = try fixture()
    let old = try fixture.insert([try fixture.row("Part", ["code": .string("old")])])[0]
    var new = try rows(40, fixture)
    new[7] = try fixture.row("Part", ["code": .string("again")], id: old.objectID)
    var request = SaveChangesRequest()
    request.insertions = new.map { .init(snapshot: $0) }
    guard case .conflicts(let conflicts) = try fixture.store.save(request) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.map(\.objectID) == [old.objectID])
    #expect(conflicts.first?.persisted?.values == old.values)
  }
}
