// The screen of `cairnctl top`.
import CairnControl
import Foundation

/// What is shown, and what was before.
struct TopView {
  /// One look.
  struct Sample: Encodable {
    let date: WireDate
    let state: DaemonStatus.State
    let changesPerSecond: Double
    let replicas: [Replica]

    struct Replica: Encodable {
      let name: String
      let state: ReplicaStatus.State
      let changesPerSecond: Double
      let lagTransactions: Int?
      let lagSeconds: Double?
      /// Of the last pass that was seen.
      let passMilliseconds: Int?
      /// The state as people read it, which is not written for machines.
      let stateWords: String

      private enum CodingKeys: String, CodingKey {
        case name, state, changesPerSecond, lagTransactions, lagSeconds, passMilliseconds
      }
    }
  }

  /// How something was at the last looks, by replica.
  private typealias Courses = [String: Sparkline]

  /// Changes since the last look, by replica.
  private var changes: [String: Int] = [:]
  private var took: [String: Int] = [:]
  /// The longest pass since the last look.
  private var longest: [String: Int] = [:]
  private var all = Sparkline()
  private var rates: Courses = [:]
  private var lags: Courses = [:]
  private var latencies: Courses = [:]

  mutating func take(_ event: MonitorDaemon.Event) {
    guard event.kind == .pass, let replica = event.replica else { return }
    changes[replica, default: 0] += (event.pulled ?? 0) + (event.pushed ?? 0)
    took[replica] = event.milliseconds
    longest[replica] = max(longest[replica] ?? 0, event.milliseconds ?? 0)
  }

  /// Ends an interval.
  mutating func sample(_ status: DaemonStatus, over seconds: Double) -> Sample {
    func rate(_ count: Int) -> Double { (Double(count) / max(seconds, 0.001) * 10).rounded() / 10 }
    let total = rate(changes.values.reduce(0, +))
    all.add(total)
    let replicas = status.replicas.map { replica in
      let (name, own) = (replica.name, rate(changes[replica.name] ?? 0))
      rates[name, default: Sparkline()].add(own)
      lags[name, default: Sparkline()].add(Double(replica.lagTransactions ?? 0))
      latencies[name, default: Sparkline()].add(Double(longest[name] ?? 0))
      return Sample.Replica(
        name: name, state: replica.state, changesPerSecond: own,
        lagTransactions: replica.lagTransactions, lagSeconds: replica.lagSeconds,
        passMilliseconds: took[name], stateWords: replica.stateWords)
    }
    (changes, longest) = ([:], [:])
    return Sample(
      date: .now, state: status.state, changesPerSecond: total, replicas: replicas)
  }

  // MARK: The screen

  /// A column: its heading and its cells come from one list.
  private struct Column {
    let title: String
    var isNumber = false
    /// What is left where there is little room.
    var least = 0
    let text: (Sample.Replica) -> String
    /// What stands beside the number where there is room.
    var course: KeyPath<TopView, Courses>?
    var width = 0
  }

  private static var columns: [Column] {
    [
      Column(title: "REPLICA", least: 8) { $0.name },
      Column(title: "STATE", least: 7) { $0.stateWords },
      Column(
        title: "CHANGES/S", isNumber: true, text: { number($0.changesPerSecond) }, course: \.rates),
      Column(
        title: "LAG", isNumber: true,
        text: { $0.lagTransactions.map { number(Double($0)) } ?? "-" },
        course: \.lags),
      Column(
        title: "TOOK", isNumber: true, text: { $0.passMilliseconds.map { "\($0) ms" } ?? "-" },
        course: \.latencies),
    ]
  }
  private static let gap = 2
  /// As much of a name as bars leave of it.
  private static let shortName = 14
  /// Bars beside a number, at least and at most.
  private static let bars = (least: 5, most: 40)

  /// A screen of so many columns; with rows, replicas that have no room are counted.
  func lines(
    _ sample: Sample, columns: Int, rows: Int = .max, style: TerminalStyle = .output
  ) -> [String] {
    let changes = "changes/s \(Self.number(sample.changesPerSecond))"
    let room = min(2 * Self.bars.most, columns - changes.count - 2)
    var lines = [
      "cairnd \(style(sample.state.rawValue, sample.state == .serving ? .good : .bad)), "
        + Readable.moment(sample.date),
      changes + (room >= Self.bars.least ? "  \(all.text(length: room))" : ""), "",
    ]
    guard !sample.replicas.isEmpty else { return lines + ["no replicas"] }
    let (shown, bars) = layout(sample, columns)
    lines.append(
      style(line(shown, bars) { ($0.title, nil) }, .strong))
    var fitting = sample.replicas[...]
    if lines.count + fitting.count > rows {
      fitting = fitting.prefix(max(0, rows - lines.count - 1))
    }
    lines += fitting.map { replica in
      line(shown, bars) { column in
        (column.text(replica), column.course.flatMap { self[keyPath: $0][replica.name] })
      }
    }
    let left = sample.replicas.count - fitting.count
    return left > 0 ? lines + ["… and \(left) more"] : lines
  }

  /// The columns that have room, with their widths, and how many bars stand beside each number.
  private func layout(_ sample: Sample, _ columns: Int) -> (columns: [Column], bars: Int) {
    var shown = Self.columns.map { column in
      var column = column
      column.width = sample.replicas.reduce(column.title.count) {
        max($0, TextTable.width(TerminalText.oneLine(column.text($1))))
      }
      return column
    }
    func excess() -> Int {
      shown.reduce(0) { $0 + $1.width } + Self.gap * (shown.count - 1) - columns
    }
    // A long name or state gives way to numbers, and numbers to those that say more.
    for index in [0, 1] where excess() > 0 {
      shown[index].width = max(
        min(shown[index].width, shown[index].least), shown[index].width - excess())
    }
    while excess() > 0, shown.count > 2 { shown.removeLast() }
    let courses = shown.count { $0.course != nil }
    guard shown.count == Self.columns.count else { return (shown, 0) }
    // What a long name can do without makes room for bars.
    let lacking = courses * (Self.bars.least + 1) + excess()
    if lacking > 0, shown[0].width - lacking >= Self.shortName { shown[0].width -= lacking }
    let bars = -excess() / courses - 1
    return (shown, bars < Self.bars.least ? 0 : min(bars, Self.bars.most))
  }

  private func line(
    _ columns: [Column], _ bars: Int, _ cell: (Column) -> (text: String, course: Sparkline?)
  ) -> String {
    let line = columns.map { column in
      let (text, course) = cell(column)
      let cut = TerminalText.cut(text, to: column.width)
      guard column.isNumber else { return TerminalText.padded(cut, to: column.width) }
      let room = String(repeating: " ", count: max(0, column.width - TextTable.width(cut)))
      guard bars > 0 else { return room + cut }
      return room + cut + " "
        + (course?.text(length: bars) ?? String(repeating: " ", count: bars))
    }.joined(separator: String(repeating: " ", count: Self.gap))
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  private static func number(_ value: Double) -> String {
    value >= 10_000
      ? "\(Int(value / 1000))k"
      : value == value.rounded() ? "\(Int(value))" : String(format: "%.1f", value)
  }
}
