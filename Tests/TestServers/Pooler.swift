// A pooler before a server, as far as clients that are no crowd see of it.

import CairnPlatform
import Foundation
import Synchronization
import TestSupport

/// Lends the server's sessions to clients, as PgBouncer does in one of its modes.
package final class Pooler: Sendable {
  /// For how long a client has a session.
  package enum Mode: String, Sendable, CaseIterable {
    case session, transaction
  }

  private struct State {
    /// The session that came back last goes out first.
    var free: [Session] = []
    var clients: UInt8 = 0
  }
  private let road = NSCondition()
  // Unchecked: read and changed under `road` alone.
  nonisolated(unsafe) private var isCut = false
  private let state = Mutex(State())
  private let mode: Mode
  private let target: String
  private let listener: UnixListener
  private let temporary: TemporaryFolder
  /// The folder with the socket; the port is the server's.
  package var folder: String { temporary.path }

  package init(_ mode: Mode, to server: PostgreSQLServer) throws {
    self.mode = mode
    temporary = try TemporaryFolder()
    let name = ".s.PGSQL.\(server.port)"
    target = "\(server.folder)/\(name)"
    let listener = try UnixListener(path: temporary.file(name))
    self.listener = listener
    Thread.detachNewThread { [weak self] in
      while let self {
        guard let client = try? listener.accept(timeout: .milliseconds(200)) else { continue }
        Thread.detachNewThread { [weak self] in self?.serve(client) }
      }
    }
  }

  deinit { listener.remove() }

  /// Hands nothing on from now on, and says nothing.
  package func cut() { set(isCut: true) }
  package func heal() { set(isCut: false) }

  private func set(isCut: Bool) {
    road.lock()
    self.isCut = isCut
    road.broadcast()
    road.unlock()
  }

  private func waitForRoad() {
    road.lock()
    while isCut { road.wait() }
    road.unlock()
  }

  /// One of the server's, used by the client that has it.
  private struct Session: Sendable {
    let stream: UnixStream
    /// What the server said of itself, for each client anew.
    let greeting: [UInt8]
  }

  private struct Closed: Error {}

  private func takeSession() throws -> Session {
    if let free = state.withLock({ $0.free.popLast() }) { return free }
    let stream = try UnixStream(connectingTo: target)
    let settings = Array("\0\u{3}\0\0user\0owner\0database\0postgres\0\0".utf8)
    try stream.write([0, 0, 0, UInt8(settings.count + 4)] + settings)
    var reading = MessageReading(fromServer: true)
    var greeting: [UInt8] = []
    while true {
      let bytes = try stream.read()
      if bytes.isEmpty { throw Closed() }
      for message in reading.take(bytes) {
        switch Character(UnicodeScalar(message[0])) {
        case "Z": return Session(stream: stream, greeting: greeting)
        // The number of its process is not handed on.
        case "K": break
        default: greeting += message
        }
      }
    }
  }

  private func serve(_ client: UnixStream) {
    defer { client.finishWriting() }
    var reading = MessageReading(fromServer: false)
    guard let hello = try? client.read(), !reading.take(hello).isEmpty else { return }
    waitForRoad()
    guard let first = try? takeSession()
    else { return }
    var session: Session? = first
    let number = state.withLock { state in
      state.clients &+= 1
      return state.clients
    }
    try? client.write(
      first.greeting + serverMessage("K", [0x7f, 0, 0, number, 0, 0, 0, 1])
        + serverMessage("Z", Array("I".utf8)))
    func giveBack() {
      if let free = session { state.withLock { $0.free.append(free) } }
      session = nil
    }
    if mode == .transaction { giveBack() }
    while let bytes = try? client.read(), !bytes.isEmpty {
      waitForRoad()
      let messages = reading.take(bytes)
      if messages.contains(where: { $0.first == Character("X").asciiValue }) { break }
      do {
        let current = try session ?? takeSession()
        session = current
        try current.stream.write(Array(messages.joined()))
        let (last, isIdle) = try passAnswers(to: messages, from: current, to: client)
        // The client finds it given back.
        if isIdle, mode == .transaction { giveBack() }
        try client.write(last)
      } catch { break }
    }
    giveBack()
  }

  /// Waits for the answers to what ends with a moment at which the server is ready for more.
  ///
  /// - Returns: The last of them, and whether no transaction is open then.
  private func passAnswers(
    to messages: [[UInt8]], from session: Session, to client: UnixStream
  ) throws -> (last: [UInt8], isIdle: Bool) {
    var left = messages.filter { "QS".contains(Character(UnicodeScalar($0[0]))) }.count
    var isIdle = false
    var reading = MessageReading(fromServer: true)
    while left > 0 {
      let bytes = try session.stream.read()
      if bytes.isEmpty { throw Closed() }
      let answers = reading.take(bytes)
      for answer in answers where answer.first == Character("Z").asciiValue {
        left -= 1
        isIdle = answer.last == Character("I").asciiValue
      }
      if left == 0 { return (Array(answers.joined()), isIdle) }
      try client.write(Array(answers.joined()))
    }
    return ([], false)
  }
}
