// Programs that tests start.

import CSpawn
import Foundation
import Synchronization

/// A program that a test starts, with the members of Foundation's `Process`.
///
/// Foundation's own looks for open descriptors before each start, and reads past the end of its buffer when there are
/// more than about 1,350 of them: tests that keep many stores open crash. It also closes each by a step of its own, and
/// gives the starting thread a run loop, which ThreadSanitizer does not survive.
// Unchecked: the test that makes it sets the variables before `run`, and nobody afterwards; `state` and `end` guard
// themselves.
package final class ChildProcess: @unchecked Sendable {
  package var executableURL: URL?
  package var arguments: [String] = []
  /// That of the test when nil.
  package var environment: [String: String]?
  package var standardInput: (any ChildStream)?
  package var standardOutput: (any ChildStream)?
  package var standardError: (any ChildStream)?

  private enum State {
    case new
    case running(pid_t)
    case ended(pid_t, code: Int32)
  }
  private let state = Mutex(State.new)
  private let end = DispatchGroup()

  package init() {}

  /// Runs a program to its end, whose words nobody hears.
  ///
  /// - Returns: Whether it succeeded.
  package static func run(_ program: String, _ arguments: [String]) throws -> Bool {
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  // MARK: Starting

  /// Starts the program, in a process group of its own and with no other descriptors than those given.
  ///
  /// Closes the ends of pipes that only the program needs.
  ///
  /// - Throws: `POSIXError`, as when there is no such program.
  package func run() throws {
    let streams = [standardInput, standardOutput, standardError]
    var files = posix_spawn_file_actions_t()
    try Self.check(posix_spawn_file_actions_init(&files))
    defer { posix_spawn_file_actions_destroy(&files) }
    for (number, stream) in zip(Int32(0)..., streams) {
      guard let stream else { continue }
      if let own = stream.descriptor(forInput: number == 0) {
        try Self.check(posix_spawn_file_actions_adddup2(&files, own, number))
      } else {
        try Self.check(
          posix_spawn_file_actions_addopen(&files, number, "/dev/null", O_RDWR, 0))
      }
    }
    try Self.check(cspawn_close_from(&files, 3))
    let process = try start(files)
    for (number, stream) in zip(0..., streams) { stream?.closeOtherEnd(ofInput: number == 0) }
    state.withLock { $0 = .running(process) }
    end.enter()
    // Soon after its end, whether a test asks or not: Swift Testing waits for children of its own, and finds the first
    // that nobody has waited for again and again.
    Thread.detachNewThread { self.wait(for: process) }
  }

  private func start(_ files: posix_spawn_file_actions_t) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    try Self.check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads of Dispatch, on which tests run, keep signals blocked.
    var none = sigset_t()
    sigemptyset(&none)
    try Self.check(posix_spawnattr_setsigmask(&attributes, &none))
    try Self.check(
      posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK)))
    let path = executableURL?.path ?? ""
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var pairs = variables.map { strdup($0) } + [nil]
    defer { for text in words + pairs { free(text) } }
    var (files, process) = (files, pid_t())
    try Self.check(posix_spawn(&process, path, &files, &attributes, &words, &pairs))
    return process
  }

  private static func check(_ code: Int32) throws {
    if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
  }

  // MARK: Its end

  private func wait(for process: pid_t) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    state.withLock { state in
      // Its number may be another process's from here on.
      var status: Int32 = 0
      let isKnown = waitpid(process, &status, 0) == process
      let signal = status & 0x7F
      state = .ended(
        process, code: !isKnown ? -1 : signal == 0 ? status >> 8 & 0xFF : signal)
    }
    end.leave()
  }

  package var isRunning: Bool {
    state.withLock { if case .running = $0 { true } else { false } }
  }

  package var processIdentifier: Int32 {
    state.withLock {
      switch $0 {
      case .new: 0
      case .running(let process), .ended(let process, _): process
      }
    }
  }

  /// The exit code, or the signal that has ended it; -1 before that, and where the kernel did not tell.
  package var terminationStatus: Int32 {
    state.withLock { if case .ended(_, let code) = $0 { code } else { -1 } }
  }

  /// Asks it to end.
  package func terminate() {
    state.withLock { if case .running(let process) = $0 { _ = kill(process, SIGTERM) } }
  }

  package func waitUntilExit() { end.wait() }
}

/// What a program can have as its input, or write its output to.
package protocol ChildStream {
  /// Nil for one that has nothing and takes everything.
  func descriptor(forInput isInput: Bool) -> Int32?
  /// Closes what only the program needs.
  func closeOtherEnd(ofInput isInput: Bool)
}

extension FileHandle: ChildStream {
  package func descriptor(forInput isInput: Bool) -> Int32? {
    self === FileHandle.nullDevice ? nil : fileDescriptor
  }
  package func closeOtherEnd(ofInput isInput: Bool) {}
}

extension Pipe: ChildStream {
  private func end(forInput isInput: Bool) -> FileHandle {
    isInput ? fileHandleForReading : fileHandleForWriting
  }
  package func descriptor(forInput isInput: Bool) -> Int32? {
    end(forInput: isInput).fileDescriptor
  }
  package func closeOtherEnd(ofInput isInput: Bool) { try? end(forInput: isInput).close() }
}
