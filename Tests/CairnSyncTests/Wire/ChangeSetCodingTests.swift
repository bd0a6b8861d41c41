import Foundation
import Testing

@testable import CairnSync

struct ChangeSetCodingTests {
  func sample(_ generator: inout SeededGenerator) -> ChangeSet {
    var set = ChangeSet(
      source: StateJoinTests.stores[0], after: generator.next(), upTo: generator.next())
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      var state = StateJoinTests.state(&generator)
      let write = PropertyWrite(stamp: StateJoinTests.stamp(&generator))
      let values: [WireValue] = [
        .null, .boolean(true), .boolean(false), .integer(.min), .float(.nan), .double(-0.0),
        .decimal(Decimal(string: "-12.3400001") ?? 0), .string("e\u{301}\u{0}"),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .data(Data([0, 255])),
        .uuid(RecordID(high: 1, low: 2).uuid),
        .url(URL(fileURLWithPath: "/x y")), .reference(StateJoinTests.id),
      ]
      for (index, value) in values.enumerated() {
        state.registers["v\(index)"] = Register(value: value, write: write)
      }
      set.records.append(state)
    }
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      set.links.append(
        LinkChange(
          key: LinkKey(
            relationship: "A.b", owner: RecordID(high: generator.next(), low: 1),
            member: StateJoinTests.id),
          state: StateJoinTests.linkState(&generator)))
    }
    return set
  }

  @Test func everyChangeSetSurvivesItsBytesBitForBit() throws {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let bytes = sample(&generator).encoded()
      #expect(try ChangeSet(decoding: bytes).encoded() == bytes)
    }
  }

  @Test func damagedBytesAreRefusedAndNeverTrap() throws {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<300 {
      var bytes = [UInt8](sample(&generator).encoded())
      for _ in 0..<3 {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: 0...255, using: &generator)
      }
      if generator.chance(50) {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
      }
      // Either it reads, or it throws the declared error.
      do { _ = try ChangeSet(decoding: Data(bytes)) } catch let error as SyncError {
        #expect(error.code == .damagedBookkeeping)
      }
    }
    #expect(throws: SyncError.self) { try ChangeSet(decoding: Data()) }
  }

  @Test func aRecordEntryReadsBackAsItWasWritten() throws {
    var generator = SeededGenerator(seed: 8)
    for number in 0..<200 {
      let state = StateJoinTests.state(&generator)
      var entry = RecordEntry(entity: "Item", key: generator.chance(50) ? .row(Int64(number)) : nil)
      entry.takeWrites(from: state)
      entry.overlay = state.registers.byName.mapValues(\.value)
      entry.sequence = generator.next()
      let read = try RecordEntry(decoding: entry.encoded)
      #expect(read == entry)
      #expect(read.state(id: state.id, row: nil) == state)
    }
  }

  @Test func clocksFollowTimeAndDoNotBelieveTheFarFuture() {
    var clock = HybridLogicalClock()
    let first = clock.tick(milliseconds: 1000, limit: 2000)
    #expect(first == ClockReading(milliseconds: 1000))
    let again = clock.tick(milliseconds: 900, limit: 2000)
    #expect(again > first && again.milliseconds == 1000)
    clock.receive(ClockReading(milliseconds: 1500), limit: 2000)
    #expect(clock.tick(milliseconds: 1400, limit: 2000).milliseconds == 1500)
    #expect(clock.tick(milliseconds: 99_000, limit: 2000).milliseconds == 2000)
    clock.receive(ClockReading(milliseconds: 2001), limit: 2000)
    #expect(!clock.isAhead(of: 2000))
    // The machine's clock has fallen back.
    #expect(clock.isAhead(of: 1900))
    #expect(clock.tick(milliseconds: 1890, limit: 1900).milliseconds == 1890)
    let id = RecordID(milliseconds: 1234, random: (.max, .max))
    #expect(id.milliseconds == 1234 && id.uuid.uuidString.dropFirst(14).first == "7")
    #expect(RecordID(id.description) == id)
  }
}
