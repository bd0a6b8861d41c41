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
}
