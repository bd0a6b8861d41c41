import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// Registers are a dictionary by property, whatever the order their values lie in.
struct RegistersTests {
  private static let orders = [
    ColumnNames([]), ColumnNames(["a", "b", "c"]), ColumnNames(["a", "b", "c"]),
    ColumnNames(["c", "a"]),
  ]
  private static let names = ["a", "b", "c", "d"]

  private static func register(_ generator: inout SeededGenerator) -> Register {
    Register(
      value: .integer(.random(in: 1...2, using: &generator)),
      write: PropertyWrite(stamp: StateJoinTests.stamp(&generator)))
  }

  /// The same registers twice: as they are kept, and as a dictionary.
  private static func pair(
    _ generator: inout SeededGenerator
  ) -> (registers: Registers, model: [String: Register]) {
    var registers = Registers(columns: generator.pick(orders) ?? .none)
    var model: [String: Register] = [:]
    for _ in 0..<Int.random(in: 0...8, using: &generator) {
      let name = generator.pick(names) ?? "a"
      let register = generator.chance(70) ? register(&generator) : nil
      registers[name] = register
      model[name] = register
    }
    return (registers, model)
  }

  private static let seed =
    ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap(UInt64.init) ?? 11

  @Test func theyHoldWhatADictionaryHolds() {
    print("registers: CAIRN_TEST_SEED=\(Self.seed)")
    var generator = SeededGenerator(seed: Self.seed)
    for _ in 0..<500 {
      let (registers, model) = Self.pair(&generator)
      #expect(registers.byName == model)
      #expect(registers.count == model.count && registers.isEmpty == model.isEmpty)
      #expect(Set(registers.names) == Set(model.keys))
      for name in Self.names { #expect(registers[name] == model[name]) }
      let latest = model.values.map(\.write.stamp.clock).max()
      #expect(registers.latestReading == latest)
      let writes = Set(model.values.map(\.write))
      #expect(registers.onlyWrite == nil || writes == [registers.onlyWrite])
      for write in writes { #expect(registers.hasWrite { $0 == write }) }
      #expect(!registers.hasWrite { !writes.contains($0) })
    }
  }

  @Test func equalityAsksForTheRegistersAndNotForTheirOrder() {
    var generator = SeededGenerator(seed: Self.seed)
    for _ in 0..<500 {
      let (a, b) = (Self.pair(&generator), Self.pair(&generator))
      #expect((a.registers == b.registers) == (a.model == b.model))
      for order in Self.orders {
        let arranged = a.registers.arranged(by: order)
        #expect(arranged == a.registers && arranged.hashValue == a.registers.hashValue)
        for (place, name) in order.names.enumerated() {
          #expect(a.registers.value(place, in: order) == a.model[name]?.value)
        }
        let beside = a.model.filter { !order.names.contains($0.key) }
        #expect(a.registers.valuesBeside(order) == beside.mapValues(\.value))
      }
    }
  }

  @Test func whatIsMergedIsWhatDictionariesMerge() {
    var generator = SeededGenerator(seed: Self.seed)
    for _ in 0..<500 {
      let (a, b) = (Self.pair(&generator), Self.pair(&generator))
      var merged = a.registers
      merged.merge(b.registers) { $0.joined(with: $1) }
      #expect(merged.byName == a.model.merging(b.model) { $0.joined(with: $1) })
    }
  }

  @Test func aRowThatOneWriteMadeHasThatWriteOnly() {
    let write = PropertyWrite(
      stamp: Stamp(clock: ClockReading(bits: 9), store: StateJoinTests.stores[0]))
    let row = RowValues(Self.orders[1], [.integer(1), nil, .null])
    let registers = Registers(row, write: write)
    #expect(registers.onlyWrite == write && registers.count == 2 && registers["b"] == nil)
  }
}
