// The first page of the daemon, and the page of a link.

import CairnControl
import Foundation

/// That the daemon gives no answer, and since when.
struct SilenceNotice: Sendable {
  let message: String
  let advice: Phrase?
  let since: String
  /// When it answered last.
  let lastAnswer: String

  init?(_ reading: DaemonReading) {
    guard let silence = reading.silence else { return nil }
    message = silence.reason.message
    advice = silence.reason.advice.map(Phrase.init)
    since = Readable.moment(WireDate(silence.since))
    lastAnswer =
      reading.answer.map {
        "Its last answer came at \(Readable.moment(WireDate($0.moment))); what is below is from then."
      }
      ?? "It has not answered since this page began."
  }
}

/// How a page is asked for again.
struct RefreshChoice: Sendable {
  /// Seconds; nil for never.
  let seconds: Int?
  let choice: String
  let choicePage: String
  /// What addresses of pages with the same choice end with.
  let suffix: String

  private static let parameter = "refresh"

  /// - Parameters:
  ///   - path: The page's own.
  ///   - seconds: How often; 0 for never.
  init(_ query: FormQuery, path: String, seconds: Int) {
    let isOn = seconds > 0 && query[Self.parameter] != "off"
    self.seconds = isOn ? seconds : nil
    suffix = isOn || seconds == 0 ? "" : "?\(Self.parameter)=off"
    choicePage = isOn ? "\(path)?\(Self.parameter)=off" : path
    choice =
      isOn
      ? "Stop refreshing (now every \(seconds) s)"
      : seconds == 0 ? "Refresh" : "Refresh every \(seconds) s"
  }
}

/// What the plots show and do not.
enum PlotNote {
  static func text(_ samples: [DaemonSample]) -> String {
    let begin = samples.first.map { ", now from \(Readable.moment(WireDate($0.moment)))" } ?? ""
    return "The plots show what this program has seen itself: a sample every "
      + "\(DaemonWatch.interval) s, at most an hour of them\(begin), in its memory. They begin anew "
      + "when it is started again. Where a line is missing, the daemon gave no answer or did not "
      + "know. Times are UTC."
  }
}

struct DaemonOverview: Sendable {
  struct Fact: Sendable {
    let name: String
    let value: String
  }
  struct Problem: Sendable {
    let text: String
    let hint: Phrase?
  }

  let silence: SilenceNotice?
  let standing: StateLabel
  let facts: [Fact]
  let localStanding: StateLabel?
  let localFacts: [Fact]
  let localPage: String?
  let localTrouble: String?
  let problems: [Problem]
  let hasProblems: Bool
  /// Whether anything is known of the daemon.
  let isKnown: Bool
  let links: [LinkRow]
  let hasLinks: Bool
  let plots: [Plot]
  let plotNote: String
  let refreshing: RefreshChoice

  init(_ reading: DaemonReading, refreshing: RefreshChoice) {
    let isCurrent = reading.silence == nil
    let status = reading.answer?.status
    silence = SilenceNotice(reading)
    standing = isCurrent ? status.map { StateLabel($0.state) } ?? .unknown : .unknown
    facts = status.map(Self.facts) ?? []
    localStanding = status?.local.map { StateLabel($0, isCurrent: isCurrent) }
    localFacts = status?.local.map(Self.facts) ?? []
    localPage = status?.local.map { PageAddress.store($0.name) + "/" }
    localTrouble = status?.local?.problem.map { "\($0.message) (\($0.code))" }
    problems = (status?.problems ?? []).map { problem in
      Problem(
        text: "\(problem.message) (\(problem.code))",
        hint: TroubleHint.text(problem.code).map(Phrase.init))
    }
    hasProblems = !problems.isEmpty
    isKnown = status != nil
    let replicas = status?.replicas ?? []
    links = replicas.map { LinkRow($0, of: reading, suffix: refreshing.suffix) }
    hasLinks = !links.isEmpty
    plots = Self.plots(replicas, reading.samples)
    plotNote = PlotNote.text(reading.samples)
    self.refreshing = refreshing
  }

  private static func facts(_ status: DaemonStatus) -> [Fact] {
    [
      Fact(name: "Version", value: status.version),
      Fact(name: "Running since", value: Readable.moment(status.startedAt)),
      Fact(name: "Process", value: "\(status.pid)"),
      Fact(name: "Model", value: status.model ?? "not read yet"),
    ]
  }

  private static func facts(_ local: StoreStatus) -> [Fact] {
    var facts = [Fact(name: "File", value: local.location)]
    if let records = local.records { facts.append(Fact(name: "Records", value: "\(records)")) }
    if let number = local.lastTransaction {
      facts.append(Fact(name: "Last transaction", value: "\(number)"))
    }
    if let bytes = local.bytes { facts.append(Fact(name: "Size", value: Readable.bytes(bytes))) }
    return facts
  }

  /// The links with the greatest lag at any moment, where there are more than can be told apart.
  private static func plots(_ replicas: [ReplicaStatus], _ samples: [DaemonSample]) -> [Plot] {
    let lags = replicas.map { Plot.Line(name: $0.name, points: samples.lag(of: $0.name)) }
    let rates = replicas.map { Plot.Line(name: $0.name, points: samples.rate(of: $0.name)) }
    func chosen(_ lines: [Plot.Line]) -> [Plot.Line] {
      guard lines.count > Plot.lineLimit else { return lines }
      func top(_ line: Plot.Line) -> Double { line.points.compactMap(\.value).max() ?? -1 }
      return Array(lines.sorted { top($0) > top($1) }.prefix(Plot.lineLimit))
    }
    let which = replicas.count > Plot.lineLimit ? " of the \(Plot.lineLimit) links with most" : ""
    return [
      Plot(
        "Lag\(which)", identifier: "lag", unit: "transactions that one side lacks",
        lines: chosen(lags)),
      Plot(
        "Throughput\(which)", identifier: "rate", unit: "records a second, both ways together",
        lines: chosen(rates)),
    ]
  }
}

struct LinkPage: Sendable {
  let silence: SilenceNotice?
  let row: LinkRow
  let facts: [DaemonOverview.Fact]
  let waits: [WaitItem]
  let hasWaits: Bool
  let hint: Phrase?
  let storePage: String
  let plots: [Plot]
  let plotNote: String
  let refreshing: RefreshChoice

  /// - Throws: `PageError` for a link that the daemon does not have.
  init(_ reading: DaemonReading, link name: String, refreshing: RefreshChoice) throws {
    guard let status = reading.answer?.status else {
      throw reading.silence?.reason ?? PageError.missing("There is no link “\(name)”.")
    }
    guard let replica = status.replicas.first(where: { $0.name == name }) else {
      throw PageError.missing("The daemon has no link “\(name)”.")
    }
    silence = SilenceNotice(reading)
    row = LinkRow(replica, of: reading, suffix: refreshing.suffix)
    facts = Self.facts(replica)
    waits = replica.waits.map(WaitItem.init)
    hasWaits = !waits.isEmpty
    hint = replica.problem.flatMap { TroubleHint.text($0.code) }.map(Phrase.init)
    storePage = PageAddress.store(name) + "/"
    plots = [
      Plot(
        "Lag", identifier: "lag", unit: "transactions that one side lacks",
        lines: [Plot.Line(name: "Transactions", points: reading.samples.lag(of: name))]),
      Plot(
        "Throughput", identifier: "rate", unit: "records a second, both ways together",
        lines: [Plot.Line(name: "Records a second", points: reading.samples.rate(of: name))]),
    ]
    plotNote = PlotNote.text(reading.samples)
    self.refreshing = refreshing
  }

  private static func facts(_ replica: ReplicaStatus) -> [DaemonOverview.Fact] {
    var facts: [DaemonOverview.Fact] = []
    func add(_ name: String, _ value: String?) {
      if let value { facts.append(DaemonOverview.Fact(name: name, value: value)) }
    }
    add("File", replica.location)
    add("Required", replica.required ? "yes, the daemon is not ready without it" : "no")
    add("Passes since the start", "\(replica.passes)")
    add("So since", replica.since.map(Readable.moment))
    add("Next attempt", replica.nextAttempt.map(Readable.moment))
    add(
      "Progress",
      replica.progress.map { progress in
        progress.total.map { $0 == 100 ? "\(progress.done) %" : "\(progress.done) of \($0)" }
          ?? "\(progress.done) done"
      })
    return facts
  }
}
