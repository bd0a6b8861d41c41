// What the daemon needs when there is nothing to do, and for large values.

import Foundation

extension ServiceCases {
  func idleMemory() throws -> [CaseResult] {
    let memory = try (0..<rounds).map { _ in
      try withIdleDaemon(replicas: 2) { $0.figures.memory }
    }
    return [.amounts("memory idle with 2 replicas", memory, must: 50, aim: 35, unit: "MB")]
  }

  func idleCost() throws -> [CaseResult] {
    var memory: [Double] = []
    var threads: [Double] = []
    var wakeUps: [Double] = []
    for _ in 0..<rounds {
      try withIdleDaemon(replicas: 20) { daemon in
        wakeUps.append(daemon.figures.wakeUps(during: 20))
        threads.append(Double(daemon.figures.threadCount))
        memory.append(daemon.figures.memory)
      }
    }
    return [
      .amounts("20 replicas idle: wake-ups a second", wakeUps, must: 2, aim: 0.3, unit: "/s"),
      .amounts("20 replicas idle: threads", threads, must: 16, aim: 10, unit: "threads"),
      .amounts("20 replicas idle: memory", memory, must: 90, aim: 60, unit: "MB"),
    ]
  }

  /// A first sync of records with 10 MB each, the files of which are external.
  func blobMemory() throws -> [CaseResult] {
    let memory = try (0..<rounds).map { _ in
      try withFolder { folder in
        let local = folder.appendingPathComponent("local.sqlite")
        let writer = try Application(local, modelIn: folder)
        try writer.insertPictures(30, bytes: 10_000_000)
        try writer.close()
        let daemon = try RunningDaemon(in: folder, programs: programs)
        defer { daemon.stop() }
        try daemon.figures.forgetPeak()
        let replica = RunningDaemon.replica(0, in: folder)
        try daemon.add(replica)
        try daemon.waitForReplicas()
        try check(replica, holds: 30, of: "Picture")
        return daemon.figures.peakMemory
      }
    }
    return [.amounts("memory merging 30 blobs of 10 MB", memory, must: 200, aim: 120, unit: "MB")]
  }

  /// A daemon with a thousand records everywhere, some seconds after the last work.
  private func withIdleDaemon<T>(replicas: Int, _ body: (RunningDaemon) throws -> T) throws -> T {
    try withFolder { folder in
      let writer = try Application(
        folder.appendingPathComponent("local.sqlite"), modelIn: folder)
      try writer.insert(Sample.rows(1000))
      try writer.close()
      let daemon = try RunningDaemon(in: folder, programs: programs, replicas: replicas)
      defer { daemon.stop() }
      try daemon.waitForReplicas()
      sleep(8)
      return try body(daemon)
    }
  }
}
