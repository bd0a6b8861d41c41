// What stands between a program and a server, and cuts the connection where a test wants it.

import CairnPlatform
import Foundation
import Synchronization
import TestSupport

/// Hands on what a client and a server say, and ends one connection once, at a message that is counted.
package final class CuttingProxy: Sendable {
  /// When the connection ends.
  package enum Moment: Sendable, CaseIterable {
    /// The server does not get the message.
    case before
    /// The server does what it was asked, and its answer is lost.
    case after
  }

  private struct Plan {
    var moment: Moment
    /// Counts down to the message; nil cuts none.
    var left: Int?
    var count = 0
    var hasCut = false
  }
  private let plan = Mutex<Plan?>(nil)
  private let listener: UnixListener
  /// The folder with the socket; the port is the server's.
  package var folder: String { temporary.path }
  private let temporary: TemporaryFolder

  package init(to server: PostgreSQLServer) throws {
    temporary = try TemporaryFolder()
    let name = ".s.PGSQL.\(server.port)"
    let target = "\(server.folder)/\(name)"
    let listener = try UnixListener(path: temporary.file(name))
    self.listener = listener
    Thread.detachNewThread { [weak self] in
      while let self {
        guard let client = try? listener.accept(timeout: .milliseconds(200)),
          let server = try? UnixStream(connectingTo: target)
        else { continue }
        let session = CutSession(client: client, server: server, proxy: self)
        Thread.detachNewThread { session.passAnswers() }
        Thread.detachNewThread { session.passRequests() }
      }
    }
  }

  deinit { listener.remove() }

  /// Counts from now on.
  ///
  /// - Parameter number: The message at which a connection ends, from 1; nil for none.
  package func arm(_ moment: Moment, at number: Int?) {
    plan.withLock { $0 = Plan(moment: moment, left: number) }
  }

  /// Ends the counting.
  ///
  /// - Returns: How many messages there were, and whether a connection was ended.
  package func disarm() -> (count: Int, hasCut: Bool) {
    plan.withLock { plan in
      defer { plan = nil }
      return (plan?.count ?? 0, plan?.hasCut ?? false)
    }
  }

  /// Whether the connection ends at this message.
  fileprivate func judge(_ message: [UInt8], isFirst: Bool) -> Moment? {
    plan.withLock { plan in
      guard let moment = plan?.moment else { return nil }
      let type = Character(UnicodeScalar(message.first ?? 0))
      let counts =
        switch moment {
        // Of the messages of one statement the server acts on its last; an attempt to connect is a call, too.
        case .before: isFirst || "EQSdc".contains(type)
        // To these it answers when it has done all before them.
        case .after: !isFirst && "QS".contains(type)
        }
      guard counts else { return nil }
      plan?.count += 1
      guard let left = plan?.left else { return nil }
      plan?.left = left > 1 ? left - 1 : nil
      guard left == 1 else { return nil }
      plan?.hasCut = true
      return moment
    }
  }
}

/// A connection that the proxy hands on.
private final class CutSession: Sendable {
  private enum State { case open, losesAnswer, cut }
  private let state = Mutex(State.open)
  private let client: UnixStream
  private let server: UnixStream
  private let proxy: CuttingProxy

  init(client: UnixStream, server: UnixStream, proxy: CuttingProxy) {
    (self.client, self.server, self.proxy) = (client, server, proxy)
  }

  /// Each side sees that the other one ends.
  private func cut() {
    state.withLock { $0 = .cut }
    client.finishWriting()
    server.finishWriting()
  }

  func passRequests() {
    var reading = MessageReading(fromServer: false)
    var isFirst = true
    while let bytes = try? client.read(), !bytes.isEmpty {
      var passed: [UInt8] = []
      for message in reading.take(bytes) where state.withLock({ $0 != .cut }) {
        switch proxy.judge(message, isFirst: isFirst) {
        case .before:
          try? server.write(passed)
          cut()
        case .after:
          state.withLock { $0 = .losesAnswer }
          passed += message
        case nil: passed += message
        }
        isFirst = false
      }
      if state.withLock({ $0 != .cut }) { try? server.write(passed) }
    }
    server.finishWriting()
  }

  func passAnswers() {
    var reading = MessageReading(fromServer: true)
    while let bytes = try? server.read(), !bytes.isEmpty {
      let messages = reading.take(bytes)
      switch state.withLock({ $0 }) {
      case .open: try? client.write(Array(messages.joined()))
      case .losesAnswer:
        // The server says when it is ready for the next one.
        if messages.contains(where: { $0.first == Character("Z").asciiValue }) { cut() }
      case .cut: break
      }
    }
    client.finishWriting()
  }
}
