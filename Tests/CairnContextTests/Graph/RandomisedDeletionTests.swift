// The four delete rules at random, against plain dictionaries.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 9: whatever is deleted in whatever order, what is stored afterwards is what the rules
/// say, and a refused save can be rolled back.
@Suite struct RandomisedDeletionTests {
  static let rules: [(key: String, rule: DeleteRule)] = [
    ("cascading", .cascade), ("clearing", .nullify), ("denying", .deny), ("leaving", .noAction),
  ]

  /// Nodes with one to-many relationship of each rule; `…Owner` is the other side.
  static func model() -> ManagedObjectModel {
    let node = EntityDescription(name: "Node")
    var properties: [PropertyDescription] = [AttributeDescription(name: "key", type: .integer64)]
    for (key, rule) in rules {
      // The owner's side of these never deletes.
      let (members, owner) = (Workshop.toMany(key, rule), Workshop.toOne(key + "Owner", .nullify))
      Workshop.link(members, to: node, owner, to: node)
      properties += [members, owner]
    }
    node.properties = properties
    let model = ManagedObjectModel()
    model.entities = [node]
    return model
  }

  /// Which node belongs to which, by relationship.
  private struct Plain {
    var nodes: Set<Int> = []
    var owners: [String: [Int: Int]] = [:]

    func members(_ key: String, _ owner: Int) -> [Int] {
      (owners[key] ?? [:]).filter { $0.value == owner }.map(\.key)
    }

    /// - Returns: What a deletion of these takes along.
    func closure(_ roots: Set<Int>) -> Set<Int> {
      var (all, next) = (roots, Array(roots))
      while let node = next.popLast() {
        for member in members("cascading", node) where all.insert(member).inserted {
          next.append(member)
        }
      }
      return all
    }

    func isDenied(_ gone: Set<Int>) -> Bool {
      gone.contains { !members("denying", $0).allSatisfy(gone.contains) }
    }

    mutating func remove(_ gone: Set<Int>) {
      nodes.subtract(gone)
      for (key, pairs) in owners {
        owners[key] = pairs.filter { !gone.contains($0.key) && !gone.contains($0.value) }
      }
    }
  }

  private func differences(_ context: ManagedObjectContext, _ plain: Plain) throws -> [String] {
    let objects = try context.all("Node", sortedBy: "key")
    var found: [String] = []
    if Set(objects.compactMap { $0.number("key") }) != plain.nodes {
      found.append("nodes \(objects.compactMap { $0.number("key") }), not \(plain.nodes.sorted())")
    }
    for object in objects {
      guard let number = object.number("key") else { continue }
      for (key, _) in Self.rules {
        let members = object.many(key).compactMap { $0.number("key") }.sorted()
        if members != plain.members(key, number).sorted() {
          found.append("\(key) of \(number) is \(members)")
        }
        // A row that `noAction` left behind leads to an object that is not there.
        let owner = object.one(key + "Owner").flatMap { $0.isDeleted ? nil : $0.number("key") }
        if owner != plain.owners[key]?[number] {
          found.append("owner by \(key) of \(number) is \(owner ?? 0)")
        }
      }
    }
    return found
  }

  private func run(_ seed: UInt64, atEndOfEvent: Bool) throws {
    var random = SeededGenerator(seed: seed)
    let stack = try WorkshopStack(model: Self.model())
    var plain = Plain()
    var (refused, deleted) = (0, 0)
    for round in 0..<12 {
      try stack.use { context in
        context.propagatesDeletesAtEndOfEvent = atEndOfEvent
        var nodes: [Int: ManagedObject] = [:]
        for node in try context.all("Node") { nodes[node.number("key") ?? 0] = node }
        for _ in 0..<8 {
          let key = (plain.nodes.max() ?? 0) + 1
          nodes[key] = context.make("Node", ["key": key])
          plain.nodes.insert(key)
        }
        for _ in 0..<16 {
          let rule = Self.rules.randomElement(using: &random)?.key ?? ""
          guard let member = plain.nodes.sorted().randomElement(using: &random),
            let owner = plain.nodes.sorted().randomElement(using: &random), member != owner
          else { continue }
          nodes[member]?.setValue(nodes[owner], forKey: rule + "Owner")
          plain.owners[rule, default: [:]][member] = owner
        }
        try context.save()
        let roots = Set(plain.nodes.sorted().shuffled(using: &random).prefix(2))
        for root in roots.sorted() {
          if let node = nodes[root] { context.delete(node) }
          if Bool.random(using: &random) { context.processPendingChanges() }
        }
        let gone = plain.closure(roots)
        if plain.isDenied(gone) {
          refused += 1
          #expect(throws: CoreDataError.self, "seed \(seed), round \(round)") {
            try context.save()
          }
          context.rollback()
          #expect(!context.hasChanges)
        } else {
          deleted += 1
          try context.save()
          plain.remove(gone)
        }
        nodes = [:]
        let here = try differences(context, plain)
        #expect(here.isEmpty, "seed \(seed), round \(round), in the same context")
      }
      let stored = try stack.use { try differences($0, plain) }
      #expect(stored.isEmpty, "seed \(seed), round \(round)")
      if !stored.isEmpty { return }
    }
    #expect(refused + deleted == 12)
  }

  @Test(arguments: RandomisedTests.seeds, [true, false])
  func whatIsStoredIsWhatTheRulesSay(seed: UInt64, atEndOfEvent: Bool) throws {
    try run(seed, atEndOfEvent: atEndOfEvent)
  }
}
