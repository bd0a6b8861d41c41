// A real cairnd in a folder of its own, with a control client and cairnctl to speak to it.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

/// One daemon that can be started, killed and started again over the same files.
///
/// Mutable state: the running process, inside the mutex. Whatever runs is killed in the end.
final class Daemon: Sendable {
  /// How a daemon is set up; the files of one folder, named after the daemon.
  struct Setup: Sendable {
    var name = "d"
    var model = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    /// Name and path of each replica.
    var replicas: [(name: String, path: String)] = []
    /// More lines of the configuration.
    var extra = ""
    var environment: [String: String] = [:]
    /// Runs as a user that file modes apply to, also where the tests run as root.
    var isUnprivileged = false
    /// What a shell runs first, such as `ulimit -f 1000`.
    var shell: String?
    /// The local store, where it is not in the folder.
    var local: String?
  }

  /// The user of unprivileged daemons; nobody in particular.
  private static let user = 61_234

  let folder: TemporaryFolder
  let setup: Setup
  private let process = Mutex<ChildProcess?>(nil)

  var socket: String { folder.file("\(setup.name).control") }
  var localPath: String { setup.local ?? folder.file("\(setup.name).sqlite") }
  var configPath: String { folder.file("\(setup.name).yaml") }
  var logPath: String { folder.file("\(setup.name).log") }

  init(in folder: TemporaryFolder, _ setup: Setup = Setup()) throws {
    self.folder = folder
    self.setup = setup
    var lines = [
      "model: \(setup.model)", "control: {socket: \(folder.file("\(setup.name).control"))}",
      "local: {path: \(setup.local ?? folder.file("\(setup.name).sqlite"))}",
      "log: {level: debug, format: logfmt}",
    ]
    if !setup.replicas.isEmpty { lines.append("replicas:") }
    for replica in setup.replicas {
      lines.append("  - {name: \(replica.name), type: sqlite, path: \(replica.path)}")
    }
    if !setup.extra.isEmpty { lines.append(setup.extra) }
    try write(lines.joined(separator: "\n") + "\n", to: configPath)
  }

  deinit { kill() }

  // MARK: Life

  /// Starts the program; returns when it answers and its engine has started or failed to.
  func start() async throws {
    try launch()
    let isUp = await eventually {
      guard self.isRunning else { return true }
      switch try? self.status().state {
      case .serving, .degraded: return true
      case .starting, .draining, .stopped, nil: return false
      }
    }
    #expect(isUp && isRunning, "cairnd did not come up: \(log(last: 10))")
  }

  /// Starts the program and waits for nothing.
  func launch() throws {
    let program = try #require(Project.program("cairnd"), "build the products first")
    let started = ChildProcess()
    started.executableURL = URL(fileURLWithPath: program)
    started.arguments = ["--config", configPath]
    if setup.isUnprivileged, HostIdentity.effectiveUser == 0 {
      started.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      started.arguments = [
        "--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups", program, "--config",
        configPath,
      ]
    }
    if let shell = setup.shell {
      started.executableURL = URL(fileURLWithPath: "/bin/bash")
      started.arguments = [
        "-c", "\(shell) && exec \"$0\" \"$@\"", program, "--config", configPath,
      ]
    }
    started.environment = ProcessInfo.processInfo.environment.merging(setup.environment) { $1 }
    if !FileManager.default.fileExists(atPath: logPath) { try write("", to: logPath) }
    let output = try #require(FileHandle(forWritingAtPath: logPath))
    try output.seekToEnd()
    started.standardOutput = output
    started.standardError = output
    started.standardInput = FileHandle.nullDevice
    try started.run()
    process.withLock { $0 = started }
  }

  /// Changes the text of the configuration; a reload or a restart takes it.
  func reconfigure(_ change: (String) -> String) throws {
    try write(change(try String(contentsOfFile: configPath, encoding: .utf8)), to: configPath)
  }

  var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }
  var pid: Int32 { process.withLock { $0?.processIdentifier ?? 0 } }

  /// Sends SIGTERM and waits for the exit code.
  func stop() async -> Int32 {
    guard let running = process.withLock({ $0 }), running.isRunning else { return -1 }
    running.terminate()
    let code = await exitCode()
    expectEventsOnly()
    // A daemon that ends itself because its stop takes too long exits with 0, too.
    #expect(!logText.contains("the daemon ends at once"), "something held its stop up for too long")
    return code
  }

  /// Waits until the process has ended.
  func exitCode() async -> Int32 {
    let ended = await eventually { !self.isRunning }
    #expect(ended, "cairnd does not end: \(log(last: 10))")
    return process.withLock { $0.map { $0.isRunning ? -1 : $0.terminationStatus } ?? -1 }
  }

  /// SIGKILL; returns when the process is gone.
  func kill() {
    guard let running = process.withLock({ $0 }), running.isRunning else { return }
    ProcessConduct.send(signal: 9, to: running.processIdentifier)
    running.waitUntilExit()
  }

  /// Gives the folder and its files to the daemon's user.
  func handOver() throws {
    guard setup.isUnprivileged, HostIdentity.effectiveUser == 0 else { return }
    let inside = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
    let paths = [folder.path] + inside.compactMap { ($0 as? String).map(folder.file) }
    for path in paths {
      try FileManager.default.setAttributes(
        [.ownerAccountID: Self.user, .groupOwnerAccountID: Self.user], ofItemAtPath: path)
    }
  }

  // MARK: Speaking to it

  func client(timeout: Duration = .patience) throws -> ControlClient {
    try ControlClient(socket: socket, timeout: timeout)
  }

  func status() throws -> DaemonStatus {
    try client().call(GetStatus.self, NoValues()).status
  }

  func replica(_ name: String) throws -> ReplicaStatus? {
    try status().replicas.first { $0.name == name }
  }

  /// Runs cairnctl against this daemon.
  @discardableResult
  func ctl(_ arguments: String..., input: String = "") async throws -> Outcome {
    try await ctl(arguments, input: input)
  }

  @discardableResult
  func ctl(_ arguments: [String], input: String = "") async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(
      program, arguments, input: input,
      environment: ["CAIRN_SOCKET": socket, "NO_COLOR": "1"])
  }

  /// One attribute of all records of an entity, from one of the stores.
  func values(_ entity: String, _ property: String, store: String? = nil) async throws -> [String] {
    try await offPool {
      var found: [String] = []
      try self.client().stream(
        FetchRecords.self,
        FetchRecords.Parameters(
          entity: entity, sort: [property], properties: [property], store: store)
      ) { reply in
        found += reply.rows.compactMap { $0[property]?.stringValue }
      }
      return found
    }
  }

  // MARK: Files

  var logText: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

  /// Whether the daemon writes a text to its log.
  ///
  /// It answers a call first and writes its log then: an answer that was read says nothing of the log.
  func logs(_ text: String) async -> Bool { await eventually { logText.contains(text) } }

  func log(last count: Int) -> String {
    logText.split(separator: "\n").suffix(count).joined(separator: "\n")
  }

  /// Checks that at level info and above nothing was logged that is not in the table of events, nor with
  /// a field that the table does not tell of.
  private func expectEventsOnly() {
    let field = /(?:^| )(\w+)=("(?:[^"\\]|\\.)*"|\S*)/
    for line in logText.split(separator: "\n") where line.hasPrefix("time=") {
      var fields: [String: String] = [:]
      for match in line.matches(of: field) {
        fields[String(match.output.1)] = String(match.output.2)
      }
      guard let level = fields["level"], level != "debug", level != "trace" else { continue }
      guard let event = fields["event"].flatMap(DaemonEvent.init(rawValue:)) else {
        Issue.record("not in the table of events: \(line)")
        continue
      }
      let known = Set(
        event.entry.fields.map(\.rawValue) + ["time", "level", "msg", "event", "logger"])
      #expect(known.isSuperset(of: fields.keys), "\(line)")
      #expect(level == event.level.rawValue, "\(line)")
      if let code = fields["errorCode"] { #expect(Int(code) == nil, "a word is wanted: \(line)") }
    }
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}

extension Daemon {
  /// Whether it keeps the lock of a database that each connection holds, in the index of the write-ahead log.
  ///
  /// The kernel's list is read in parts, between which others shorten it; a lock that was given up does not
  /// come back.
  func holdsIndex(of path: String) async throws -> Bool {
    let index = try FileFacts(path: path + "-shm").inode
    return await eventually {
      let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
      return locks?.split(separator: "\n").contains {
        $0.contains(" \(self.pid) ") && $0.contains(":\(index) 128 128")
      } ?? false
    }
  }
}
