import CairnModel
import Testing

@testable import CairnSync

/// Specification: sync.md 4, "Delete against write": a record that a write brings back has what was written to it just
/// before its delete where the model preserves that value in history; else nothing has it any more.
struct KeptValueTests {
  /// An item whose value is written and which is deleted before a pass has read either; another store writes to it.
  private func stores(
    preserving isPreserved: Bool
  ) throws -> (fleet: Fleet, a: Fleet.Site, b: Fleet.Site) {
    let model = SampleModel.make()
    model.entitiesByName["Item"]?.attributesByName["value"]?.preservesValueInHistoryOnDeletion =
      isPreserved
    let fleet = Fleet(seed: 23, model: model)
    let a = try fleet.add("a") { $0.deleteConflicts = .writeWins }
    let b = try fleet.add("b") { $0.deleteConflicts = .writeWins }
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "old"], in: $0) }
    try fleet.pass(a, b)
    fleet.advance(50)
    try b.write { try b.find("Item", "k", in: $0)?.setValue(2.5, forKey: "other") }
    try HistoryCapture(access: b.access).run()
    fleet.advance(50)
    try a.write { try a.find("Item", "k", in: $0)?.setValue("last", forKey: "value") }
    fleet.advance(50)
    try a.delete("k")
    return (fleet, a, b)
  }

  @Test(arguments: [true, false])
  func aRecordThatComesBackHasTheLastValueThatHistoryKeeps(_ isPreserved: Bool) throws {
    let (fleet, a, b) = try stores(preserving: isPreserved)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == ["item k \(isPreserved ? "last" : "old") 2.5 ^- []"])
    #expect(try b.picture() == a.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }

  @Test func whatIsKeptBringsNoRecordBack() throws {
    let (fleet, a, b) = try stores(preserving: true)
    try b.delete("k")
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == [] && b.picture() == [])
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }
}
