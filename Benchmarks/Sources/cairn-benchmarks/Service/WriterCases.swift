// Applications that save while the daemon works: what they notice, and when others see it.

import Foundation

extension ServiceCases {
  /// A pull of all rows beside a writer of 100 saves a second, to the same without the writer.
  ///
  /// By the wall's clock, since waiting is what this is about. What the writer notices comes along. A transaction
  /// travels whole, and writers wait for as long as its commit takes: the rows were saved fifty at a time, as an
  /// application does that others write beside.
  func disturbedPull() throws -> [CaseResult] {
    var quiet: [Double] = []
    var busy: [Double] = []
    let result = try measure(
      "pull of \(rows) beside 100 saves a second (raw: undisturbed)", units: rows, rounds: rounds,
      must: 2, aim: 1.25,
      [
        Contestant(name: "raw") { try pull(beside: nil) },
        Contestant(name: "Cairn") {
          let writer = SavingWriter()
          let seconds = try pull(beside: writer)
          quiet.append(percentile(writer.quiet, 0.99))
          busy.append(percentile(writer.busy, 0.99))
          return seconds
        },
      ])
    var ratio = CaseResult(
      name: "an application's save, p99, while \(rows) are merged (raw: quiet)", units: 1,
      must: 2, aim: 1.3)
    ratio.seconds = ["raw": quiet, "Cairn": busy]
    return [
      result, ratio,
      .amounts(
        "an application's save, p99, while \(rows) are merged", busy.map { $0 * 1000 }, must: 50,
        aim: 50, unit: "ms"),
    ]
  }

  private func pull(beside writer: SavingWriter?) throws -> Double {
    try withFolder { folder in
      let replica = RunningDaemon.replica(0, in: folder)
      try writeStore(replica, modelIn: folder, aSave: 50)
      let daemon = try RunningDaemon(in: folder, programs: programs)
      defer { daemon.stop() }
      let application = try Application(daemon.local, modelIn: folder)
      if let writer {
        writer.start(application)
        sleep(3)
        writer.isQuiet = false
      }
      let reader = try RawDatabase(daemon.local)
      let start = ContinuousClock.now
      try daemon.add(replica)
      while try reader.largestKey(of: "Item") < rows {
        guard start.duration(to: .now) < .seconds(600) else {
          throw RawError(description: "the pull does not come to an end")
        }
        usleep(10_000)
      }
      let seconds = start.duration(to: .now) / .seconds(1)
      try writer?.stop()
      try application.close()
      try check(daemon.local, holds: rows)
      return seconds
    }
  }

  /// From the end of a save in this process until the row is seen in the replica's file.
  func latency() throws -> [CaseResult] {
    var middle: [Double] = []
    var late: [Double] = []
    for _ in 0..<rounds {
      try withFolder { folder in
        let daemon = try RunningDaemon(in: folder, programs: programs, replicas: 1)
        defer { daemon.stop() }
        try daemon.waitForReplicas()
        let application = try Application(daemon.local, modelIn: folder)
        let reader = try RawDatabase(RunningDaemon.replica(0, in: folder))
        var generator = SeededGenerator(seed: 7)
        let times = try (1...220).map { number in
          usleep(.random(in: 20_000...40_000, using: &generator))
          _ = try application.saveNote(number)
          let start = ContinuousClock.now
          while try reader.largestKey(of: "Note") < number {
            guard start.duration(to: .now) < .seconds(30) else {
              throw RawError(description: "a save does not arrive")
            }
            usleep(50)
          }
          return start.duration(to: .now) / .milliseconds(1)
        }
        try application.close()
        // The first ones warm both programs up.
        middle.append(percentile(Array(times.dropFirst(20)), 0.5))
        late.append(percentile(Array(times.dropFirst(20)), 0.99))
      }
    }
    return [
      .amounts(
        "a save in another process until it is in a replica, p50", middle, must: 4, aim: 1.5,
        unit: "ms"),
      .amounts(
        "a save in another process until it is in a replica, p99", late, must: 20, aim: 8,
        unit: "ms"),
    ]
  }

  /// What the writer's own process spends on a save with a daemon on the store, against without.
  func writerCost() throws -> [CaseResult] {
    func seconds(_ file: URL, modelIn folder: URL) throws -> Double {
      let application = try Application(file, modelIn: folder)
      for number in 0..<50 { _ = try application.saveNote(number) }
      let start = processorSeconds()
      for number in 0..<400 {
        _ = try application.saveNote(number)
        usleep(4000)
      }
      let seconds = processorSeconds() - start
      try application.close()
      return seconds
    }
    return [
      try measure(
        "a writer's processor time beside sync (raw: history alone)", units: 400, rounds: rounds,
        must: 1.1, aim: 1.03,
        [
          Contestant(name: "raw") {
            try withFolder { folder in
              try seconds(folder.appendingPathComponent("local.sqlite"), modelIn: folder)
            }
          },
          Contestant(name: "Cairn") {
            try withFolder { folder in
              let daemon = try RunningDaemon(in: folder, programs: programs, replicas: 2)
              defer { daemon.stop() }
              try daemon.waitForReplicas()
              return try seconds(daemon.local, modelIn: folder)
            }
          },
        ])
    ]
  }
}

/// Saves a note every ten milliseconds on a thread of its own, and remembers how long each took.
// Unchecked: the lock guards what both threads use.
private final class SavingWriter: @unchecked Sendable {
  private let lock = NSLock()
  private let ended = DispatchSemaphore(value: 0)
  private var stops = false
  private var failure: (any Error)?
  private var times: (quiet: [Double], busy: [Double]) = ([], [])
  private var noisy = false

  var quiet: [Double] { lock.withLock { times.quiet } }
  var busy: [Double] { lock.withLock { times.busy } }
  var isQuiet: Bool {
    get { lock.withLock { !noisy } }
    set { lock.withLock { noisy = !newValue } }
  }

  func start(_ application: Application) {
    // Unchecked: the main thread closes it after this one has ended.
    nonisolated(unsafe) let application = application
    Thread.detachNewThread { [self] in
      var number = 0
      var next = ContinuousClock.now
      while !lock.withLock({ stops }) {
        do {
          let seconds = try application.saveNote(number)
          lock.withLock {
            if noisy { times.busy.append(seconds) } else { times.quiet.append(seconds) }
          }
        } catch {
          lock.withLock { failure = error }
          break
        }
        number += 1
        next += .milliseconds(10)
        if next > .now {
          usleep(UInt32(max(0, ContinuousClock.now.duration(to: next) / .microseconds(1))))
        }
      }
      ended.signal()
    }
  }

  /// Ends the thread.
  ///
  /// - Throws: what a save threw.
  func stop() throws {
    lock.withLock { stops = true }
    ended.wait()
    if let failure { throw failure }
  }
}

func percentile(_ values: [Double], _ part: Double) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
}
