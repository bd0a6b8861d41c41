// A daemon that has nothing to do, counted from outside, and what wakes it.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct IdleTests {
  /// Voluntary context switches of all threads, and how many threads there are.
  private func activity(of process: Int32) throws -> (switches: Int, threads: Int) {
    let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
    let switches = tasks.reduce(0) { sum, task in
      let text = try? String(
        contentsOfFile: "/proc/\(process)/task/\(task)/status", encoding: .utf8)
      let line = text?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
      return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
    return (switches, tasks.count)
  }

  private func daemon(replicas: Int, pollInterval: String) throws -> Daemon {
    let folder = try TemporaryFolder()
    return try Daemon(
      in: folder,
      Daemon.Setup(
        replicas: (0..<replicas).map { ("r\($0)", folder.file("r\($0).sqlite")) },
        extra: "sync: {pollInterval: \(pollInterval)}"))
  }

  @Test func linksAtRestTakeNoLooksOfTheirOwn() async throws {
    let daemon = try daemon(replicas: 10, pollInterval: "1s")
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=s").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let passes = try daemon.status().replicas.map(\.passes)
    // What is looked at again after the last writes ends within some seconds.
    try await Task.sleep(for: .seconds(5))
    let before = try activity(of: daemon.pid)
    try await Task.sleep(for: .seconds(5))
    let after = try activity(of: daemon.pid)
    // One look a second, and what belongs to it; with a look for each link it was over 400.
    #expect(after.switches - before.switches < 100)
    #expect(after.threads < 30)
    let settled = try daemon.status().replicas.map(\.passes)
    #expect(zip(settled, passes).allSatisfy { $0 - $1 <= 2 }, "\(settled) \(passes)")
  }

  /// Kibibytes of files that a process has mapped and that are in memory.
  private func mappedFiles(of process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
    return try #require(
      line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  @Test func aDaemonAtRestGivesTheCodeBackThatItDoesNotNeed() async throws {
    let daemon = try daemon(replicas: 2, pollInterval: "3s")
    try await daemon.start()
    var written: [String] = []
    for _ in 0..<2 {
      var isGivenBack = false
      var figures: [String] = []
      // The look that gives back can come before what was at work is counted; then there is nothing to see.
      for _ in 0..<10 where !isGivenBack {
        let name = "s\(written.count)"
        written.append(name)
        #expect(try await daemon.ctl("insert", "Section", "name=\(name)").code == 0)
        #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
        let atWork = try mappedFiles(of: daemon.pid)
        isGivenBack = await eventually(within: .seconds(20)) {
          (try? mappedFiles(of: daemon.pid)).map { $0 * 4 < atWork * 3 } == true
        }
        figures.append("\(atWork) kB at work, \(try mappedFiles(of: daemon.pid)) kB at rest")
      }
      #expect(isGivenBack, "\(figures)")
    }
    #expect(try await daemon.values("Section", "name", store: "r1").sorted() == written.sorted())
  }

  @Test func commitsOfOtherProgramsAreNoticedWithoutLooks() async throws {
    let daemon = try daemon(replicas: 2, pollInterval: "1h")
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let model = daemon.setup.model
    for (number, path) in [daemon.localPath, daemon.setup.replicas[0].path].enumerated() {
      for round in 0..<5 {
        let application = try ApplicationStore(model: model, path: path)
        let name = "s\(number)-\(round)"
        try application.insert("Section", ["name": name])
        let last = daemon.setup.replicas[1].path
        let isThere = await eventually {
          let other = try? ApplicationStore(model: model, path: last, isReadOnly: true)
          return (try? other?.values("Section", "name"))?.contains(name) == true
        }
        #expect(isThere, "\(name): \(daemon.log(last: 5))")
      }
    }
  }

  @Test func aReplicaHasTheEntitiesThatTheConfigurationNames() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("part.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        extra: "replicas: [{name: part, type: sqlite, path: \(path), entities: [Section]}]"))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=s").code == 0)
    #expect(try await daemon.ctl("insert", "Maintainer", "name=m").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Section", "name", store: "part") == ["s"])
    #expect(try await daemon.values("Maintainer", "name", store: "part") == [])
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
  }
}
