// What a test does itself while another process runs.

import CairnTesting
import Foundation
import Synchronization
import Testing

/// Work of a test on a thread of its own, which begins at once.
///
/// A test that waits for the end of an exit test keeps one of the few threads of Swift's pool. Where two do, nothing
/// else gets one, so what their processes wait for is done here.
final class ThreadWork: Sendable {
  private final class Outcome: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
  }
  private let outcome = Outcome()

  init(_ work: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [outcome] in
      let result = Result(catching: work)
      outcome.result.withLock { $0 = result }
    }
  }

  /// Waits for its end, and throws what it threw.
  func finished() async throws {
    let isOver = await eventually { [outcome] in outcome.result.withLock { $0 != nil } }
    try #require(isOver)
    try outcome.result.withLock { $0 }?.get()
  }
}

/// Where two processes of a test wait for each other.
struct Rendezvous: Sendable {
  let ready: String
  let go: String
  private let pipe: FileHandle

  init(in folder: URL) throws {
    (ready, go) = (folder.path + "/ready", folder.path + "/go")
    // Open on both ends here, so that neither process waits for the other to open it.
    try #require(mkfifo(go, 0o600) == 0)
    pipe = try #require(FileHandle(forUpdatingAtPath: go))
  }

  /// Says in the other process that it has come here, and waits until the test has it go on.
  static func hold(_ ready: String, _ go: String) {
    _ = FileManager.default.createFile(atPath: ready, contents: nil)
    // The test writes to the pipe; the limit ends the wait if the test has died.
    var pipe = pollfd(fd: open(go, O_RDONLY | O_NONBLOCK), events: Int16(POLLIN), revents: 0)
    _ = poll(&pipe, 1, 580_000)
  }

  func letGo() { pipe.write(Data([1])) }

  /// Waits for the other process; on a thread of its own, as in ``ThreadWork``.
  func waitForOther() throws {
    let end = ContinuousClock.now + .patience
    while !FileManager.default.fileExists(atPath: ready) {
      try #require(ContinuousClock.now < end)
      // Another process writes the file.
      Thread.sleep(forTimeInterval: 0.005)
    }
  }
}
