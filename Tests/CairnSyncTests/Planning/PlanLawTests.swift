import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// Planning is the same for every order and number of deliveries (specification: sync.md 4 and 8).
struct PlanLawTests {
  static let item = RecordID(high: 1, low: 1)
  static let part = RecordID(high: 1, low: 2)

  /// One write of an application, at one of three stores.
  struct Operation: Hashable {
    enum Kind: Int, CaseIterable {
      case insertItem, insertPart, writeItem, writePart, takePartOut, deleteItem, deletePart
    }
    let store: Int
    let kind: Kind
    static let all = (0..<3).flatMap { store in
      Kind.allCases.map { Operation(store: store, kind: $0) }
    }
  }

  /// - Parameter denies: Whether an item with parts cannot be deleted, instead of taking them along.
  static func setting(
    _ policy: DeleteConflictPolicy, denies: Bool = false
  ) throws -> ImportSetting {
    let model = SampleModel.make()
    if denies { model.entitiesByName["Item"]?.relationshipsByName["parts"]?.deleteRule = .deny }
    try model.prepareForUse()
    let schema = try SyncSchema(model: model, defaultPolicy: policy, policies: [:])
    return ImportSetting(
      schema: schema, defaultPolicy: policy, holdable: Set(schema.entities.keys),
      time: CredibleTime(limit: .max), now: 0)
  }

  static func perform(_ operation: Operation, at time: UInt64, in stores: inout [PureStore]) {
    let number = operation.store
    let stamp = Stamp(clock: ClockReading(bits: time), store: stores[number].id)
    switch operation.kind {
    case .insertItem: stores[number].insert(item, "Item", ["key": .string("i")], stamp)
    case .insertPart:
      guard stores[number].rows[item] != nil else { return }
      stores[number].insert(
        part, "Part", ["key": .string("p"), "item": .reference(item)], stamp)
    case .writeItem: stores[number].write(item, "value", .string("\(time)"), stamp)
    case .writePart: stores[number].write(part, "key", .string("\(time)"), stamp)
    case .takePartOut: stores[number].write(part, "item", .null, stamp)
    case .deleteItem: stores[number].delete(item, stamp)
    case .deletePart: stores[number].delete(part, stamp)
    }
  }

  /// Every store sends to every other, in this order, until nothing changes.
  ///
  /// As a link does, each tries what waits in its quarantine before.
  static func settle(_ stores: inout [PureStore], _ passes: [(from: Int, to: Int)]) throws {
    for _ in 0..<12 {
      var isChanged = false
      for pass in passes {
        let sender = stores[pass.from]
        if try stores[pass.to].retry() { isChanged = true }
        if try stores[pass.to].receive(from: sender) { isChanged = true }
      }
      if !isChanged { return }
    }
    throw PureStore.Broken(what: "no end of changes")
  }

  /// The orders in which the three pairs of stores meet, each pair one way and back.
  static let orders: [[(from: Int, to: Int)]] = {
    let pairs = [(0, 1), (0, 2), (1, 2)]
    let permutations = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    return permutations.flatMap { order in
      [false, true].map { isReversed in
        order.flatMap { index in
          let (a, b) = pairs[index]
          return isReversed ? [(b, a), (a, b)] : [(a, b), (b, a)]
        }
      }
    }
  }()

  /// What is wrong after a history in which stores met between the first writes and at the end; nil when
  /// nothing is.
  static func flaw(
    _ history: [Operation], meetingAfter: Int, _ setting: ImportSetting
  ) throws -> String? {
    var stores = (1...3).map { PureStore(UInt64($0), setting) }
    for (index, operation) in history.enumerated() {
      perform(operation, at: UInt64(10 + index * 10), in: &stores)
      if index + 1 == meetingAfter { try settle(&stores, orders[0]) }
    }
    var expected: (picture: [String], states: [RecordState], journal: Set<RecordID>)?
    for (number, order) in orders.enumerated() {
      var meeting = stores
      try settle(&meeting, order)
      for store in meeting {
        if let flaw = store.flaw() { return "order \(number): \(flaw)" }
        let found = (store.picture, store.states)
        let first = expected ?? (meeting[0].picture, meeting[0].states, [])
        if found.0 != first.picture {
          return "order \(number), store \(store.id.low): \(found.0), not \(first.picture)"
        }
        if found.1 != first.states { return "order \(number): other states of one picture" }
        expected = first
      }
      // Once more changes nothing.
      for from in 0..<3 {
        for to in 0..<3 where from != to {
          if try meeting[to].receive(from: meeting[from]) {
            return "order \(number): not idempotent"
          }
        }
      }
    }
    return nil
  }

  /// `CAIRN_LAWS=all` tries all histories; otherwise every so many of them, from a place that the seed
  /// says.
  @Test(arguments: DeleteConflictPolicy.allCases, [false, true])
  func everyOrderOfDeliveriesOfAllShortHistoriesComesToTheSame(
    policy: DeleteConflictPolicy, denies: Bool
  ) throws {
    let setting = try Self.setting(policy, denies: denies)
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CAIRN_TEST_SEED"].flatMap { Int($0) } ?? 7
    let step = environment["CAIRN_LAWS"] == "all" ? 1 : denies ? 4001 : 2003
    var number = 0
    for length in 1...4 {
      let count = (0..<length).reduce(1) { product, _ in product * Operation.all.count }
      for index in 0..<count {
        number += 1
        guard length < 3 || (number + seed) % step == 0 else { continue }
        var rest = index
        let history = (0..<length).map { _ -> Operation in
          defer { rest /= Operation.all.count }
          return Operation.all[rest % Operation.all.count]
        }
        let flaw = try Self.flaw(history, meetingAfter: index % length, setting)
        if let flaw {
          let text = history.map { "\($0.kind) at \($0.store)" }.joined(separator: ", ")
          Issue.record(
            "\(text), meeting after \(index % length): \(flaw) (seed \(seed), denies: \(denies))")
          return
        }
      }
    }
  }
}
