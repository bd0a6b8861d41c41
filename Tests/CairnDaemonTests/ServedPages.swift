// A running cairnctl that serves pages, asked over its socket or port.
import CairnPlatform
import CairnTesting
import Foundation
import FoundationNetworking
import Synchronization
import TestSupport
import Testing

/// A running `cairnctl browse` or `cairnctl page`.
///
/// It is ended with the object, if not before.
final class ServedPages: Sendable {
  /// What the program printed first: the address.
  let location: String
  private let process: Mutex<ChildProcess>

  init(_ arguments: [String]) async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = Mutex(process)
    let descriptor = output.fileHandleForReading
    location = try await offPool {
      var line: [UInt8] = []
      while let byte = try descriptor.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
        line.append(byte)
      }
      return String(decoding: line, as: UTF8.self)
    }
  }

  deinit { process.withLock { if $0.isRunning { $0.terminate() } } }

  /// Ends the program as a crash does, and waits for that.
  func kill() {
    process.withLock {
      ProcessConduct.send(signal: 9, to: $0.processIdentifier)
      $0.waitUntilExit()
    }
  }

  /// Asks the program to end, and returns its exit code.
  func end() async throws -> Int32 {
    let identifier = process.withLock { $0.processIdentifier }
    ProcessConduct.send(signal: 15, to: identifier)
    return try await offPool {
      self.process.withLock {
        $0.waitUntilExit()
        return $0.terminationStatus
      }
    }
  }

  /// The answer to a request over the Unix socket at which the pages are served.
  func answer(
    _ path: String, method: String = "GET", host: String = "localhost"
  ) async throws -> String {
    try await offPool { try self.answerNow(path, method: method, host: host) }
  }

  /// The same on this thread.
  func answerNow(
    _ path: String, method: String = "GET", host: String = "localhost"
  ) throws -> String {
    let socket = try #require(location.hasPrefix("unix:") ? location.dropFirst(5) : nil)
    let stream = try UnixStream(connectingTo: String(socket))
    defer { stream.close() }
    try stream.write(
      Array("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8))
    var bytes: [UInt8] = []
    while true {
      let more = try stream.read(timeout: .seconds(30))
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  }

  /// The answer to a request over a port, with redirects followed.
  static func answer(
    _ address: String, host: String? = nil, in session: URLSession
  ) async throws -> (code: Int, text: String) {
    var request = URLRequest(url: try #require(URL(string: address)))
    if let host { request.setValue(host, forHTTPHeaderField: "Host") }
    let (data, response) = try await session.data(for: request)
    return (
      (response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self)
    )
  }
}
