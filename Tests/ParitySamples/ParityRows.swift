// Nasty rows, the same in every store that is asked for them.

import CairnContext
import CairnModel
import Foundation

/// A seeded generator, so that a failure can be repeated.
package struct ParityRandom {
  package var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
  package mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
}

/// Values that comparisons get wrong when they are careless; nil is in every list.
package enum ParityValues {
  package static let texts: [String?] = [
    nil, "", "a", "A", "b", "ab", "e\u{301}", "\u{e9}", "E\u{301}cole", "\u{c9}COLE", "ecole",
    "Stra\u{df}e", "STRASSE", "\u{fb01}n", "fin", "\u{130}", "i", "I", "\u{131}", "a\0b", "a\0c",
    "100%", "a_b", "a*b", "a?b", "a\\b", "Zoe\u{308} \u{1F41F}", "\u{10FFFF}", "\n", " a",
    "\u{3c3}\u{3c2}", "\u{3a3}",
  ]
  package static let integers: [Int64?] = [
    nil, 0, 1, -1, 2, 3, -7, 9_007_199_254_740_993, .max, .min, .max - 1,
  ]
  package static let doubles: [Double?] = [
    nil, 0, -0.0, 0.1, 0.5, 1, 2, -2.5, 1e308, .infinity, -.infinity, .nan,
    9_007_199_254_740_992, .leastNonzeroMagnitude,
  ]
  package static let decimals: [Decimal?] = [
    nil, 0, 1, -3, Decimal(string: "0.1"), Decimal(string: "2.50"), Decimal(string: "1234567.891"),
    Decimal(string: "2.01"), Decimal(string: "4.35"),
  ]
  package static let dates: [Date?] = [nil, 0, 0.5, -1, 100, -63_114_076_800].map {
    ($0 as Double?).map(Date.init(timeIntervalSinceReferenceDate:))
  }
  package static let flags: [Bool?] = [nil, true, false]
  package static let uuids: [UUID?] = [
    nil, UUID(uuidString: "00000000-0000-0000-0000-000000000000"),
    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
  ]
  package static let links: [URL?] = [
    nil, URL(string: "https://a.example/x"), URL(string: "mailto:q@b.c"),
  ]
  package static let bytes: [Data?] = [nil, Data(), Data([0]), Data([0, 1]), Data([255])]
}

/// The model of the rows, and what fills a store with them.
package enum ParityRows {
  package static let model: ManagedObjectModel = {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type)
    }
    let item = EntityDescription(
      name: "Item",
      properties: [
        attribute("n", .integer64), attribute("s", .string), attribute("t", .string),
        attribute("i", .integer64), attribute("j", .integer32), attribute("f", .double),
        attribute("g", .double), attribute("d", .decimal), attribute("flag", .boolean),
        attribute("at", .date), attribute("u", .uuid), attribute("link", .uri),
        attribute("raw", .binaryData),
      ])
    let special = EntityDescription(name: "Special", properties: [attribute("rank", .integer16)])
    item.subentities = [special]
    let owner = EntityDescription(
      name: "Owner", properties: [attribute("name", .string), attribute("age", .integer32)])
    let tag = EntityDescription(
      name: "Tag", properties: [attribute("name", .string), attribute("weight", .double)])
    func relate(
      _ name: String, _ source: EntityDescription, _ isMany: Bool, _ inverse: String,
      _ destination: EntityDescription, _ isInverseMany: Bool
    ) {
      let there = RelationshipDescription()
      there.name = name
      there.destinationEntity = destination
      there.maxCount = isMany ? 0 : 1
      let back = RelationshipDescription()
      back.name = inverse
      back.destinationEntity = source
      back.maxCount = isInverseMany ? 0 : 1
      there.inverseRelationship = back
      back.inverseRelationship = there
      source.properties += [there]
      destination.properties += [back]
    }
    relate("owner", item, false, "items", owner, true)
    relate("parts", item, true, "whole", item, false)
    relate("tags", item, true, "tagged", tag, true)
    let model = ManagedObjectModel()
    model.entities = [item, special, owner, tag]
    return model
  }()

  /// The same rows for the same seed, in any store.
  package static func fill(
    _ context: ManagedObjectContext, seed: UInt64, count: Int
  ) throws {
    var random = ParityRandom(state: seed | 1)
    func make(_ entity: String) -> ManagedObject {
      EntityDescription.insertNewObject(forEntityName: entity, into: context)
    }
    let owners = ["Ann", "ann", nil].enumerated().map { index, name in
      let owner = make("Owner")
      owner.setValue(name, forKey: "name")
      if index != 1 { owner.setValue(index * 20, forKey: "age") }
      return owner
    }
    let tags = ["red", "Red", "blu\u{e9}", nil].enumerated().map { index, name in
      let tag = make("Tag")
      tag.setValue(name, forKey: "name")
      if index != 2 { tag.setValue(Double(index) + 0.5, forKey: "weight") }
      return tag
    }
    var items: [ManagedObject] = []
    for index in 0..<count {
      let item = make(index % 7 == 0 ? "Special" : "Item")
      if index % 7 == 0 { item.setValue(index % 3, forKey: "rank") }
      let values: [String: Any?] = [
        "n": index, "s": random.pick(ParityValues.texts), "t": random.pick(ParityValues.texts),
        "i": random.pick(ParityValues.integers), "j": random.below(4) == 0 ? nil : random.below(6),
        "f": random.pick(ParityValues.doubles), "g": Double(random.below(8)) / 2,
        "d": random.pick(ParityValues.decimals), "flag": random.pick(ParityValues.flags),
        "at": random.pick(ParityValues.dates), "u": random.pick(ParityValues.uuids),
        "link": random.pick(ParityValues.links), "raw": random.pick(ParityValues.bytes),
        "owner": random.below(4) == 0 ? nil : random.pick(owners),
        "whole": items.isEmpty || random.below(3) == 0 ? nil : random.pick(items),
        "tags": Set(tags.filter { _ in random.below(3) == 0 }),
      ]
      for key in values.keys.sorted() {
        if case .some(.some(let value)) = values[key] { item.setValue(value, forKey: key) }
      }
      items.append(item)
    }
    try context.save()
    context.reset()
  }
}
