@_spi(Runtime) import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// An application's class with a rule of its own, whose error names no object.
final class FussyObject: ManagedObject {
  struct Refusal: Error {}

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    if managedObjectContext?.transactionAuthor == SyncConfiguration.author,
      (value(forKey: "value") as? String)?.hasPrefix("bad") == true
    {
      throw Refusal()
    }
  }
}

// A save that fails without naming the record to blame.
struct CulpritTests {
  static func model() -> ManagedObjectModel {
    let entity = EntityDescription(name: "Fussy")
    entity.properties = [
      AttributeDescription(name: "key", type: .string),
      AttributeDescription(name: "value", type: .string),
    ]
    let model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }

  func values(_ site: Fleet.Site) throws -> [String] {
    try site.write { context in
      try site.all("Fussy", in: context).map { $0.value(forKey: "value") as? String ?? "nil" }
    }
  }

  func set(_ site: Fleet.Site, _ values: [String]) throws {
    try site.write { context in
      for (object, value) in zip(try site.all("Fussy", in: context), values) {
        object.setValue(value, forKey: "value")
      }
    }
    try HistoryCapture(access: site.access).run()
  }

  @Test func oneBadRecordIsQuarantinedAndTheOthersArrive() throws {
    FussyObject.registerClass(forEntityName: "Fussy")
    let fleet = Fleet(seed: 1, model: Self.model())
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    let count = 20
    try a.write { context in
      for number in 0..<count {
        _ = try a.insert("Fussy", ["key": "\(10 + number)", "value": "old"], in: context)
      }
    }
    _ = try fleet.settle([(a, b)])
    fleet.advance(5)
    let written = (0..<count).map { $0 == 13 ? "bad" : "new" }
    try set(a, written)
    _ = try fleet.settle([(a, b)])
    #expect(try values(b) == (0..<count).map { $0 == 13 ? "old" : "new" })
    let held = try ReplicationTests().quarantine(b)
    #expect(held.count == 1)
    #expect(held.first?.state?.registers["value"]?.value == .string("bad"))
    #expect(held.first?.message.contains("Refusal") == true)
    // Later changes of others pass, and the record itself when it is put right.
    fleet.advance(5)
    try set(a, (0..<count).map { $0 == 13 ? "bad again" : "newer" })
    _ = try fleet.settle([(a, b)])
    #expect(try values(b).filter { $0 == "newer" }.count == count - 1)
    fleet.advance(5)
    try set(a, (0..<count).map { _ in "good" })
    _ = try fleet.settle([(a, b)])
    #expect(try values(b) == (0..<count).map { _ in "good" })
    #expect(try ReplicationTests().quarantine(b).isEmpty)
  }

  /// A program whose model lacks a rule has written the row, which the link alone changes.
  @Test func aLinkOfARecordThatIsRefusedAsItIsWaitsAndHoldsUpNothingElse() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 64, directory: scratch.url)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      for key in ["k", "l"] { _ = try a.insert("Item", ["key": key], in: context) }
      _ = try a.insert("Tag", ["name": "t"], in: context)
    }
    _ = try fleet.settle([(a, b)])
    try LaxProgram.exceed("k", in: scratch.url.appendingPathComponent("b.sqlite"))
    fleet.advance(10)
    try a.write { context in
      let tag = try #require(try a.find("Tag", "t", in: context))
      try a.find("Item", "k", in: context)?.setValue(Set([tag]), forKey: "tags")
      try a.find("Item", "l", in: context)?.setValue("v", forKey: "value")
    }
    #expect(try fleet.settle([(a, b)]) < 40)
    #expect(try b.picture().contains("item l v nil ^- []"))
    let waiting = try ReplicationTests().quarantine(b)
    #expect(waiting.map(\.reason) == [.validation] && waiting.first?.link != nil, "\(waiting)")
    try b.write { try b.find("Item", "k", in: $0)?.setValue("short", forKey: "value") }
    #expect(try fleet.settle([(a, b)]) < 40)
    for site in [a, b] {
      #expect(try site.picture().contains("item k short nil ^- [\"t\"]"))
      #expect(try ReplicationTests().quarantine(site).isEmpty)
    }
  }

  /// The item waits for the tag, and is past a rule when that comes: a person has to correct the item.
  @Test func whatARecordIsRefusedForNamesTheOtherThatIsToBeCorrected() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 65, directory: scratch.url)
    let b = try fleet.add("b")
    let item = try b.write { try b.insert("Item", ["key": "k"], in: $0) }.objectID
    try HistoryCapture(access: b.access).run()
    let id = try #require(try b.access.ledger().recordID(for: item))
    let source = StoreID(high: 9, low: 9)
    let tag = RecordID(high: 1, low: 1)
    fleet.advance(10)
    func apply(_ id: RecordID, _ entity: String, _ property: String, _ value: WireValue) throws {
      let write = PropertyWrite(
        stamp: Stamp(clock: ClockReading(milliseconds: 1_000_005), store: source))
      let state = RecordState(
        id: id, entity: entity, registers: [property: Register(value: value, write: write)])
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = fleet.coordinator
      let set = ChangeSet(source: source, after: 0, upTo: 0, records: [state])
      _ = try context.performAndWait {
        try ChangeImporter(access: b.access, context: context).apply(set, cursor: nil)
      }
    }
    try apply(id, "Item", "label", .reference(tag))
    try LaxProgram.exceed("k", in: scratch.url.appendingPathComponent("b.sqlite"))
    try apply(tag, "Tag", "name", .string("t"))
    let waiting = try ReplicationTests().quarantine(b)
    #expect(waiting.map { $0.state?.id } == [tag])
    #expect(waiting.first?.message.hasSuffix(", of Item \(id)") == true, "\(waiting)")
  }
}
