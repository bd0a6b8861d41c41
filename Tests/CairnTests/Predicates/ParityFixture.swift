// One set of nasty rows in a SQLite store and in a store in memory, to ask both the same questions.

@testable import Cairn
import CairnStore
import Foundation

/// A seeded generator, so that a failure can be repeated.
struct ParityRandom {
  var state: UInt64

  mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
  mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
}

/// Values that comparisons get wrong when they are careless; nil is in every list.
enum ParityValues {
  static let texts: [String?] = [
    nil, "", "a", "A", "b", "ab", "e\u{301}", "\u{e9}", "E\u{301}cole", "\u{c9}COLE", "ecole",
    "Stra\u{df}e", "STRASSE", "\u{fb01}n", "fin", "\u{130}", "i", "I", "\u{131}", "a\0b", "a\0c",
    "100%", "a_b", "a*b", "a?b", "a\\b", "Zoe\u{308} \u{1F41F}", "\u{10FFFF}", "\n", " a",
    "\u{3c3}\u{3c2}", "\u{3a3}",
  ]
  static let integers: [Int64?] = [
    nil, 0, 1, -1, 2, 3, -7, 9_007_199_254_740_993, .max, .min, .max - 1,
  ]
  static let doubles: [Double?] = [
    nil, 0, -0.0, 0.1, 0.5, 1, 2, -2.5, 1e308, .infinity, -.infinity, .nan,
    9_007_199_254_740_992, .leastNonzeroMagnitude,
  ]
  static let decimals: [Decimal?] = [
    nil, 0, 1, -3, Decimal(string: "0.1"), Decimal(string: "2.50"), Decimal(string: "1234567.891"),
  ]
  static let dates: [Date?] = [nil, 0, 0.5, -1, 100, -63_114_076_800].map {
    ($0 as Double?).map(Date.init(timeIntervalSinceReferenceDate:))
  }
  static let flags: [Bool?] = [nil, true, false]
  static let uuids: [UUID?] = [
    nil, UUID(uuidString: "00000000-0000-0000-0000-000000000000"),
    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
  ]
  static let links: [URL?] = [nil, URL(string: "https://a.example/x"), URL(string: "mailto:q@b.c")]
  static let bytes: [Data?] = [nil, Data(), Data([0]), Data([0, 1]), Data([255])]
}

/// Two stores with the same rows.
final class ParityFixture {
  private let folder: URL
  private let containers: [PersistentContainer]
  /// The contexts of the SQLite store and of the store in memory.
  let sqlite: ManagedObjectContext
  let memory: ManagedObjectContext

  static let model: ManagedObjectModel = {
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

  init(seed: UInt64, count: Int = 60) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-parity-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    containers = try [StoreTypeName.sqlite, StoreTypeName.inMemory].map { [folder] type in
      let container = PersistentContainer(name: "Parity", managedObjectModel: Self.model)
      let description = PersistentStoreDescription(
        url: folder.appendingPathComponent("parity.\(type)"))
      description.type = type
      container.persistentStoreDescriptions = [description]
      var problem: (any Error)?
      container.loadPersistentStores { problem = $1 }
      if let problem { throw problem }
      return container
    }
    (sqlite, memory) = (
      containers[0].newBackgroundContext(), containers[1].newBackgroundContext()
    )
    for context in [sqlite, memory] {
      try context.performAndWait { try Self.fill(context, seed: seed, count: count) }
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func fill(
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

  // MARK: Three answers

  /// The numbers of the rows found by each way; nil where it fails.
  struct Answers {
    var sqlite: [Int]?
    var memory: [Int]?
    var objects: [Int]?
    var error: (any Error)?

    var agree: Bool { sqlite == memory && memory == objects }
  }

  /// Asks the SQLite store, the store in memory, and the objects themselves.
  func answers(
    _ predicate: ObjectPredicate, sortedBy descriptors: [ObjectSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0
  ) -> Answers {
    var answers = Answers()
    func fetch(_ context: ManagedObjectContext) -> [Int]? {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = predicate
      request.sortDescriptors = descriptors + [ObjectSortDescriptor(key: "n", ascending: true)]
      request.fetchLimit = limit
      request.fetchOffset = offset
      do {
        return try context.performAndWait { try context.fetch(request).map(Self.number) }
      } catch {
        answers.error = error
        return nil
      }
    }
    answers.sqlite = fetch(sqlite)
    answers.memory = fetch(memory)
    do {
      answers.objects = try sqlite.performAndWait {
        let all = try sqlite.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        let found = try all.filter { try predicate.test($0) }
        let order = descriptors + [ObjectSortDescriptor(key: "n", ascending: true)]
        let rest = found.sorted(using: order).dropFirst(offset)
        return (limit > 0 ? rest.prefix(limit) : rest).map(Self.number)
      }
    } catch {
      answers.error = error
    }
    return answers
  }

  /// How the SQLite store runs a predicate.
  func explanation(
    _ predicate: ObjectPredicate, limit: Int = 0
  ) throws -> StoreFetchExplanation {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = predicate
    request.fetchLimit = limit
    let explanation = try sqlite.performAndWait { try sqlite.explain(request) }
    guard let first = explanation.stores.first else { throw CocoaError(.featureUnsupported) }
    return first
  }

  private static func number(_ object: ManagedObject) -> Int {
    object.value(forKey: "n") as? Int ?? -1
  }
}
