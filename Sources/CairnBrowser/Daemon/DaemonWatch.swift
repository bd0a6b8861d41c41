// Looks at the daemon again and again.

import CairnControl
import Foundation

/// What is known of the daemon, and since when it gives no answer.
struct DaemonReading: Sendable {
  struct Silence: Sendable, Hashable {
    /// When the first question was not answered.
    let since: Date
    let reason: DaemonUnanswered
  }

  /// The last answer, and when it came; nil before the first.
  var answer: (status: DaemonStatus, moment: Date)?
  /// Nil while the daemon answers.
  var silence: Silence?
  var samples: [DaemonSample] = []
}

/// Keeps the last answer and the samples for the plots.
actor DaemonWatch {
  /// Seconds between two samples.
  static let interval = 5
  /// An answer that is younger than this is not asked for again, in seconds.
  private static let freshness = 1.0

  private let source: DaemonSource
  private var reading = DaemonReading()
  private var ring = SampleRing()
  private var lastAttempt: Date?
  private var attempt: Task<Void, Never>?

  init(_ source: DaemonSource) { self.source = source }

  /// Samples until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await look(keepsSample: true)
      // Cancelled while asleep: the condition sees it.
      try? await Task.sleep(for: .seconds(Self.interval))
    }
  }

  /// What is known now: asks the daemon, unless it was asked a moment ago.
  func current() async -> DaemonReading {
    let isFresh = lastAttempt.map { abs($0.timeIntervalSinceNow) < Self.freshness } ?? false
    if !isFresh { await look(keepsSample: false) }
    var reading = reading
    reading.samples = ring.all
    return reading
  }

  /// Asks once; requests that come meanwhile wait for the same answer.
  private func look(keepsSample: Bool) async {
    if attempt == nil { attempt = Task { await ask() } }
    await attempt?.value
    if keepsSample { ring.append(sample) }
  }

  private var moved: [String: Int] = [:]

  private var sample: DaemonSample {
    guard let answer = reading.answer, reading.silence == nil else {
      return DaemonSample(without: lastAttempt ?? Date())
    }
    return DaemonSample(answer.moment, answer.status, moved: moved)
  }

  private func ask() async {
    defer {
      lastAttempt = Date()
      attempt = nil
    }
    let start = Date()
    do {
      let status = try await source.status()
      let metrics = try await source.metrics()
      moved = MovedRecords.parse(metrics)
      reading.answer = (status, Date())
      reading.silence = nil
    } catch {
      let reason = error as? DaemonUnanswered ?? DaemonUnanswered(error)
      reading.silence = DaemonReading.Silence(
        since: reading.silence?.since ?? start, reason: reason)
    }
  }
}
