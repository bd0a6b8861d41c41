import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// What new records put into the maps by the run is what they put there one by one.
struct NewRecordsTests {
  private func records(_ entity: String, origin: StoreID?, _ keys: [Int64]) -> NewRecords {
    let stamp = Stamp(
      clock: ClockReading(milliseconds: 12, counter: 3), store: StoreID(high: 1, low: 2))
    var records = NewRecords(
      entity: entity, write: PropertyWrite(stamp: stamp), origin: origin, sequence: 700)
    records.members = keys.map { key in
      .init(id: RecordID(high: UInt64(key.magnitude % 7), low: UInt64(key.magnitude)), key: key)
    }
    return records
  }

  private func entries(_ operations: [SidecarOperation]) -> [SidecarKey: Data] {
    var found: [SidecarKey: Data] = [:]
    for case .putAll(let run) in operations {
      run.forEach { found[SidecarKey(map: run.map, key: Data($0))] = Data($1) }
    }
    return found
  }

  @Test(arguments: ["E", "Entity with a name that has no room in a key of thirty-two bytes"])
  func allOfARecordIsWritten(entity: String) throws {
    for origin in [nil, StoreID(high: 8, low: 9)] {
      let records = records(entity, origin: origin, Array(1...40))
      let found = entries(records.operations(root: "Root"))
      #expect(found.count == 120)
      for member in records.members {
        let entry = try #require(found[SyncKey.record(member.id)])
        #expect(try RecordEntry(decoding: entry) == records.entry(member))
        let id = SyncMap.ids.key(
          Data("Root".utf8) + [0] + SyncKey.number(UInt64(bitPattern: member.key)))
        #expect(found[id] == SyncKey.bytes(member.id))
        let place = found[SyncKey.change(700, record: member.id)]
        #expect(place == (origin.map { SyncKey.bytes($0) } ?? Data()))
      }
    }
  }

  @Test func theEntriesOfARunAscend() {
    for case .putAll(let run) in records("E", origin: nil, Array(1...40)).operations(root: "R") {
      var keys: [Data] = []
      run.forEach { key, _ in keys.append(Data(key)) }
      #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) }, "\(run.map)")
    }
  }

  @Test func rowsComeInTheirOrderAndNoneTwice() {
    func sorted(_ keys: [Int64], after last: Int64?) -> [Int64]? {
      var records = records("E", origin: nil, keys)
      return records.sortByKey(after: last) ? records.members.map(\.key) : nil
    }
    #expect(sorted([5, 3, 9], after: nil) == [3, 5, 9])
    #expect(sorted([5, 3, 9], after: 2) == [3, 5, 9])
    #expect(sorted([5, 3, 9], after: 3) == nil)
    #expect(sorted([5, 3, 5], after: nil) == nil)
  }
}
