import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// A replica in PostgreSQL may show more digits of a decimal than a SQLite store keeps.
struct KeptDecimalTests {
  @Test(arguments: [
    ("0.33333333333333333333", "0.3333333333333333"), ("0.1", "0.1"), ("-12.50", "-12.5"),
    ("9007199254740993", "9007199254740993"), ("9007199254740993.5", "9007199254740994"),
    ("1e100", "1e100"),
  ])
  func isWhatADoubleMeansUnlessItIsAnInteger(_ number: String, _ kept: String) throws {
    let decimal = try #require(Decimal(string: number))
    #expect(decimal.keptBySQLite == Decimal(string: kept))
    #expect(decimal.keptBySQLite.keptBySQLite == decimal.keptBySQLite)
  }

  @Test func ofOneWriteTheValueWithMoreDigitsIsTaken() throws {
    let exact = WireValue.decimal(try #require(Decimal(string: "0.33333333333333333333")))
    let kept = WireValue.decimal(try #require(Decimal(string: "0.3333333333333333")))
    #expect(exact.isKeptSame(as: kept) && !exact.isSame(as: kept))
    #expect(exact.outranks(kept) && !kept.outranks(exact))
    let other = WireValue.decimal(try #require(Decimal(string: "0.34")))
    #expect(!exact.isKeptSame(as: other))
    #expect(exact.outranks(other) != other.outranks(exact))
    #expect(kept.outranks(other) == exact.outranks(other), "by what both keep")
  }
}

/// The same with daemons and a server.
@Suite(.needsServer) struct HubDecimalTests {
  private static func model() -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    item.properties = [
      AttributeDescription(name: "key", type: .string),
      AttributeDescription(name: "note", type: .string),
      AttributeDescription(name: "price", type: .decimal),
    ]
    let model = ManagedObjectModel()
    model.entities = [item]
    return model
  }

  @Test func digitsThatTheHubAloneKeepsStayAndAreNoDifference() async throws {
    let hub = try Hub()
    let daemon = try hub.daemon("first", model: Self.model())
    try daemon.engine.addReplica(hub.configuration())
    let price = try #require(Decimal(string: "0.3333333333333333"))
    try daemon.site.write { try daemon.site.insert("Item", ["key": "k", "price": price], in: $0) }
    try await daemon.engine.wait(timeout: .patience)
    try hub.sql("UPDATE @item SET price = 0.33333333333333333333")
    // The record travels as a whole.
    for note in ["a", "b"] {
      try daemon.site.write { try daemon.set("k", "note", note, in: $0) }
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(try hub.sql("SELECT price || note FROM @item") == "0.33333333333333333333b")
    let report = try await daemon.engine.verify(name: "hub", level: .full, timeout: .patience)
    #expect(report.isEqual, "\(report)")
    #expect(try await daemon.engine.conflicts().conflicts.isEmpty)
    try await daemon.close()
  }
}
