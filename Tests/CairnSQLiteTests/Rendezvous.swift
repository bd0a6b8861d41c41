// Where a test and another process wait for each other.

import CairnTesting
import Foundation
import Testing

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

  /// Runs work of the test while the other process stands here, and has that go on at the latest when the work ends.
  func whileOtherHolds(_ work: @escaping @Sendable () throws -> Void) -> ThreadWork {
    ThreadWork {
      defer { letGo() }
      try waitForOther()
      try work()
    }
  }

  /// Has the other process go on; a second time does nothing.
  func letGo() { pipe.write(Data([1])) }

  private func waitForOther() throws {
    let end = ContinuousClock.now + .patience
    while !FileManager.default.fileExists(atPath: ready) {
      try #require(ContinuousClock.now < end)
      // Another process writes the file.
      Thread.sleep(forTimeInterval: 0.005)
    }
  }
}
