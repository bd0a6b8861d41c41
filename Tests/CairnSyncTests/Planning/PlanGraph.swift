import Foundation

@testable import CairnSync

/// All that three stores can come to by writes of applications and deliveries in every order, each state once.
///
/// Exhaustive, and cut where that loses nothing:
/// - A state is looked at once, however it was reached: what follows depends on it alone. Keys of rows and the
///   journal are left out of it; planning does not look at them.
/// - A write without effect leads to the state before it, with one write less. Times tell the order of writes and
///   no more, so that the rest of such a history is a shorter history.
/// - Stores that nothing has been written to or delivered to differ by their IDs alone, which nothing has
///   been stamped with, and every delivery between any two stores is tried: of those the first stands for all.
struct PlanGraph {
  /// What is wrong, and how it came about.
  struct Flaw: Error {
    let what: String
    let history: [String]
  }

  /// One state of the three stores.
  private struct Node {
    /// Each by its number.
    let stores: [Int]
    /// The state and the step it was first reached from.
    let origin: (node: Int, step: String)?
    /// Where deliveries lead in the end; nil while that is not known.
    var end: Int?
  }

  /// One for all stores, or one of each.
  private let settings: [ImportSetting]
  /// Every state of a single store, once.
  private var stores: [PureStore] = []
  private var storeNumbers: [PureStore.Contents: Int] = [:]
  private var nodes: [Node] = []
  private var nodeNumbers: [[Int]: Int] = [:]
  /// What a delivery from one store to another leaves there.
  private var delivered: [Delivery: Int] = [:]
  /// How many states of the three stores were looked at, and how many deliveries were planned for that.
  var counts: (states: Int, plans: Int) { (nodes.count, delivered.count) }

  private struct Delivery: Hashable {
    let from: Int
    let to: Int
  }

  static let pairs = (0..<3).flatMap { from in (0..<3).map { (from: from, to: $0) } }
    .filter { $0.from != $0.to }

  typealias Delivering = (_ store: inout PureStore, _ sender: PureStore) throws -> Void
  private let delivering: Delivering

  /// - Parameters:
  ///   - settings: One for all stores, or one of each.
  ///   - delivering: What a delivery does, by default what a link does.
  init(_ settings: [ImportSetting], delivering: Delivering? = nil) {
    self.settings = settings
    self.delivering =
      delivering ?? { store, sender in
        // As a link does, it tries what waits in quarantine before.
        try store.retry()
        try store.receive(from: sender)
      }
  }

  /// Tries all that so many writes and any number of deliveries between, before and after them lead to.
  ///
  /// - Throws: ``Flaw``: stores that deliveries do not make equal, or not always the same, or that are not valid.
  mutating func explore(writes: Int) throws {
    let first = try (0..<3).map { index in
      try number(PureStore(UInt64(index + 1), settings[index % settings.count]))
    }
    var level = [add(first, from: nil)]
    try settle(&level)
    for number in 0..<writes {
      var next: [Int] = []
      for node in level {
        let before = nodes[node].stores
        let last = firstUntouched(before)
        for operation in PlanLawTests.Operation.all where operation.store <= last {
          var written = before.map { stores[$0] }
          PlanLawTests.perform(operation, at: UInt64(10 + number * 10), in: &written)
          var after = before
          let step = "\(operation.kind) at \(operation.store)"
          after[operation.store] = try self.after(node, step) {
            try $0.number(written[operation.store])
          }
          let count = nodes.count
          let found = add(after, from: (node, step))
          if found == count { next.append(found) }
        }
      }
      level = next
      try settle(&level)
    }
  }

  /// The first store that is as it was made, which stands for the others that are; the last one where none is, or
  /// where stores differ by their settings, too.
  private func firstUntouched(_ all: [Int]) -> Int {
    let first = settings.count == 1 ? all.firstIndex { stores[$0].isEmpty } : nil
    return first ?? all.count - 1
  }

  private mutating func number(_ store: PureStore) throws -> Int {
    let contents = store.contents
    if let number = storeNumbers[contents] { return number }
    if let flaw = store.flaw() {
      throw Flaw(what: "store \(store.id.high): \(flaw)", history: [])
    }
    storeNumbers[contents] = stores.count
    stores.append(store)
    return stores.count - 1
  }

  private mutating func add(_ all: [Int], from origin: (Int, String)?) -> Int {
    if let number = nodeNumbers[all] { return number }
    nodeNumbers[all] = nodes.count
    nodes.append(Node(stores: all, origin: origin))
    return nodes.count - 1
  }

  /// Follows all deliveries from some states.
  ///
  /// - Parameter level: Gets the states that these lead to.
  private mutating func settle(_ level: inout [Int]) throws {
    for start in level {
      // Depth first: where a state leads to is known once it is known of all that it leads to.
      var path: [(node: Int, next: [Int])] = []
      var onPath: Set<Int> = []
      func enter(_ node: Int) throws {
        guard onPath.insert(node).inserted else {
          throw Flaw(what: "deliveries go round in circles", history: history(of: node))
        }
        path.append((node, try successors(of: node, &level)))
      }
      if nodes[start].end == nil { try enter(start) }
      while let (node, next) = path.last {
        if let open = next.first(where: { nodes[$0].end == nil }) {
          try enter(open)
          continue
        }
        nodes[node].end = try end(of: node, next)
        path.removeLast()
        onPath.remove(node)
      }
    }
  }

  private mutating func successors(of node: Int, _ level: inout [Int]) throws -> [Int] {
    let before = nodes[node].stores
    let last = firstUntouched(before)
    var found: [Int] = []
    for (from, to) in Self.pairs where to <= last && !stores[before[from]].isEmpty {
      var after = before
      let step = "\(from) to \(to)"
      after[to] = try self.after(node, step) {
        try $0.deliver(Delivery(from: before[from], to: before[to]))
      }
      if after == before { continue }
      let count = nodes.count
      let number = add(after, from: (node, step))
      if number == count { level.append(number) }
      found.append(number)
    }
    return found
  }

  /// Does a step; what is wrong then has come about by it.
  private mutating func after(
    _ node: Int, _ step: String, _ work: (inout PlanGraph) throws -> Int
  ) throws -> Int {
    do {
      return try work(&self)
    } catch {
      let what = (error as? Flaw)?.what ?? "\(error)"
      throw Flaw(what: what, history: history(of: node) + [step])
    }
  }

  private mutating func deliver(_ delivery: Delivery) throws -> Int {
    if let known = delivered[delivery] { return known }
    var store = stores[delivery.to]
    try delivering(&store, stores[delivery.from])
    let result = try number(store)
    delivered[delivery] = result
    return result
  }

  private func end(of node: Int, _ next: [Int]) throws -> Int {
    let ends = Set(next.compactMap { nodes[$0].end }).sorted()
    guard let first = ends.first else {
      // Nothing is to be delivered any more.
      let all = nodes[node].stores.map { stores[$0] }
      for store in all.dropFirst() where store.picture != all[0].picture {
        throw Flaw(
          what: "in the end store \(store.id.high) has \(store.picture), not \(all[0].picture)",
          history: history(of: node))
      }
      for store in all.dropFirst() where store.states != all[0].states {
        throw Flaw(what: "in the end states differ", history: history(of: node))
      }
      return node
    }
    let expected = stores[nodes[first].stores[0]]
    for other in ends.dropFirst() {
      let found = stores[nodes[other].stores[0]]
      if found.states == expected.states, found.picture == expected.picture { continue }
      throw Flaw(
        what: "by way of \(history(of: other)) stores come to \(found.picture), not "
          + "\(expected.picture)", history: history(of: first))
    }
    return first
  }

  private func history(of node: Int) -> [String] {
    var steps: [String] = []
    var next = nodes[node].origin
    while let (node, step) = next {
      steps.append(step)
      next = nodes[node].origin
    }
    return steps.reversed()
  }
}

extension PureStore {
  /// What planning depends on.
  struct Contents: Hashable {
    private let id: StoreID
    private let entries: [RecordID: RecordEntry]
    private let rows: [RecordID: Known.Row]
    private let links: [LinkKey: LinkState]
    private let joined: Set<LinkKey>
    private let lists: [String: [RecordID]]
    private let parked: Set<ImportPlan.Parking>
    private let quarantine: [HeldKey: QuarantineEntry]

    fileprivate init(_ store: PureStore) {
      id = store.id
      entries = store.entries.mapValues { entry in
        var entry = entry
        // Which key it is no plan looks at.
        if entry.key != nil { entry.key = .row(0) }
        return entry
      }
      rows = store.rows
      links = store.links
      joined = store.joined
      lists = store.lists
      parked = store.parked
      quarantine = store.quarantine
    }
  }

  var contents: Contents { Contents(self) }
  var isEmpty: Bool { entries.isEmpty && links.isEmpty && quarantine.isEmpty }
}
