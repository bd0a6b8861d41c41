// What is kept of one look at the daemon, for the plots.

import CairnControl
import Foundation

/// The figures of one moment; of one at which the daemon gave no answer, only the moment.
struct DaemonSample: Sendable, Hashable {
  struct Link: Sendable, Hashable {
    /// Transactions that one side lacks; nil while that is unknown.
    var lag: Int?
    /// Records that were brought over since the daemon started; nil while no engine counts.
    var moved: Int?
  }

  let moment: Date
  /// When the daemon started, which sets counters of another run apart; nil without an answer.
  let start: Date?
  let links: [String: Link]

  /// A moment without an answer.
  init(without moment: Date) {
    self.moment = moment
    start = nil
    links = [:]
  }

  init(_ moment: Date, _ status: DaemonStatus, moved: [String: Int]) {
    self.moment = moment
    start = status.startedAt.date
    links = Dictionary(
      status.replicas.map { ($0.name, Link(lag: $0.lagTransactions, moved: moved[$0.name])) },
      uniquingKeysWith: { $1 })
  }
}

/// Samples of the last hour: a fixed number, the oldest of which go.
struct SampleRing: Sendable {
  /// An hour at ``DaemonWatch/interval``.
  static let capacity = 720

  private var samples: [DaemonSample] = []
  private var oldest = 0

  mutating func append(_ sample: DaemonSample) {
    if samples.count < Self.capacity {
      samples.append(sample)
    } else {
      samples[oldest] = sample
      oldest = (oldest + 1) % Self.capacity
    }
  }

  /// The oldest first.
  var all: [DaemonSample] { Array(samples[oldest...] + samples[..<oldest]) }
}

extension [DaemonSample] {
  /// The lag of a link at each moment, nil where it was unknown.
  func lag(of link: String) -> [PlotPoint] {
    map { PlotPoint(moment: $0.moment, value: $0.links[link]?.lag.map(Double.init)) }
  }

  /// Records a second that a link brought over since the sample before; nil where the two cannot be
  /// compared: no answer at one of them, or a start of the daemon between.
  func rate(of link: String) -> [PlotPoint] {
    indices.map { index in
      let sample = self[index]
      let point = PlotPoint(moment: sample.moment, value: nil)
      guard index > 0 else { return point }
      let before = self[index - 1]
      let seconds = sample.moment.timeIntervalSince(before.moment)
      guard let start = sample.start, start == before.start, seconds > 0,
        let now = sample.links[link]?.moved, let then = before.links[link]?.moved, now >= then
      else { return point }
      return PlotPoint(moment: sample.moment, value: Double(now - then) / seconds)
    }
  }
}

/// Reads what replicas moved from the daemon's metrics.
enum MovedRecords {
  private static let family = "cairn_replica_records_total{"

  /// Records by replica, both directions together.
  ///
  /// Lines of other families, and ones that are not understood, are passed over.
  static func parse(_ metrics: String) -> [String: Int] {
    var moved: [String: Int] = [:]
    for line in metrics.split(separator: "\n") where line.hasPrefix(family) {
      var rest = line.dropFirst(family.count)
      var replica: String?
      while let label = label(&rest) {
        if label.name == "replica" { replica = label.value }
      }
      guard let replica, rest.hasPrefix("} "), let count = Double(rest.dropFirst(2)),
        let number = Int(exactly: count)
      else { continue }
      moved[replica, default: 0] += number
    }
    return moved
  }

  /// Takes `name="value"` and a comma from the front.
  private static func label(_ rest: inout Substring) -> (name: Substring, value: String)? {
    guard let equals = rest.firstIndex(of: "="), !rest.hasPrefix("}") else { return nil }
    let name = rest[..<equals]
    var value = ""
    var index = rest.index(after: equals)
    guard index < rest.endIndex, rest[index] == "\"" else { return nil }
    index = rest.index(after: index)
    var isEscaped = false
    while index < rest.endIndex {
      let character = rest[index]
      index = rest.index(after: index)
      if isEscaped {
        value.append(character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        rest = rest[index...]
        if rest.hasPrefix(",") { rest = rest.dropFirst() }
        return (name, value)
      } else {
        value.append(character)
      }
    }
    return nil
  }
}
