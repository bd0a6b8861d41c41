import CairnStore
import Foundation

/// What stands in a store's change order after a place, as far as it has been read.
struct ChangeRange {
  /// Everything up to here has been read.
  private(set) var upTo: UInt64
  /// In the order of their numbers.
  private(set) var records: [(sequence: UInt64, id: RecordID)] = []
  private(set) var links: [(sequence: UInt64, key: LinkKey)] = []
  private var moves: [(sequence: UInt64, target: UInt64)] = []

  private let position: UInt64

  init(after position: UInt64) {
    self.position = position
    upTo = position
  }

  /// Records wherever they stand.
  init(of ids: Set<RecordID>) {
    self.init(after: 0)
    records = ids.sorted().map { (0, $0) }
  }

  var isEmpty: Bool { records.isEmpty && links.isEmpty }

  /// How far the range has to go for what belongs together with a part of it.
  var needed: UInt64 { moves.reduce(upTo) { max($0, $1.target) } }

  /// Takes entries of `sync_changes` that follow.
  mutating func take(_ entries: [(key: Data, value: Data)]) throws {
    for (key, value) in entries {
      let (sequence, what) = try SyncKey.change(from: key)
      upTo = max(upTo, sequence)
      if what == .moved {
        let mark = try MovedMark(at: sequence, value)
        if mark.debt > position { moves.append((sequence, mark.target)) }
        continue
      }
      switch what {
      case .record(let id): records.append((sequence, id))
      case .link(let key): links.append((sequence, key))
      case .moved: break
      }
    }
  }

  /// Notes that nothing else stands up to a number.
  mutating func reach(_ sequence: UInt64) { upTo = max(upTo, sequence) }

  /// Leaves out what stands after a number.
  mutating func cut(after sequence: UInt64) {
    guard sequence < upTo else { return }
    upTo = sequence
    records.removeAll { $0.sequence > sequence }
    links.removeAll { $0.sequence > sequence }
    moves.removeAll { $0.sequence > sequence }
  }

  /// The last number up to which the records have no more than so many bytes, the numbers taken whole;
  /// the first one counts whatever it has.
  ///
  /// - Parameter sizes: The bytes of each record, in their order.
  func end(within bound: Int, sizes: [Int]) -> UInt64 {
    var sum = 0
    for (index, record) in records.enumerated() {
      sum += sizes[index]
      if sum <= bound { continue }
      let isFirst = records[0].sequence == record.sequence
      return isFirst ? record.sequence : record.sequence - 1
    }
    return upTo
  }
}
