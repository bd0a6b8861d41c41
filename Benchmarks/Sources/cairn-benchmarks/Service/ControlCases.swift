// What calls of the control socket cost the daemon.

import Foundation

extension ServiceCases {
  /// The processor time of the daemon for a call, over one connection, with one replica that is in step.
  func controlCalls() throws -> [CaseResult] {
    let methods: [(name: String, must: Double, aim: Double)] = [
      ("org.varlink.service.GetInfo", 40, 25), ("io.cairn.Daemon.GetStatus", 50, 35),
    ]
    return try withFolder { folder in
      let daemon = try RunningDaemon(in: folder, programs: programs, replicas: 1)
      defer { daemon.stop() }
      try daemon.waitForReplicas()
      // What has just been written may be written again: the status keeps what it reads only after a moment.
      sleep(4)
      let connection = try ControlConnection(folder.appendingPathComponent("control").path)
      return try methods.map { method, must, aim in
        try measure(
          "processor of the daemon for \(method)", must: must, aim: aim, unit: "µs", rounds: rounds
        ) {
          let before = daemon.figures.processorSeconds
          for _ in 0..<Self.calls { try connection.call(method) }
          return (daemon.figures.processorSeconds - before) * 1e6 / Double(Self.calls)
        }
      }
    }
  }

  /// Enough that the ticks of the kernel's clock do not matter.
  private static let calls = 20_000
}

/// A client of the control socket that costs next to nothing itself.
private final class ControlConnection {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8CString)
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
      throw RawError(description: "the path of the socket is too long: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { place in
      bytes.withUnsafeBytes { place.copyMemory(from: $0) }
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard result == 0 else { throw RawError(description: "\(path): no connection, \(errno)") }
  }

  deinit { close(descriptor) }

  /// Calls a method without parameters and waits for its answer.
  func call(_ method: String) throws {
    let message = Array("{\"method\":\"\(method)\"}".utf8) + [0]
    guard write(descriptor, message, message.count) == message.count else {
      throw RawError(description: "\(method) could not be sent")
    }
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { throw RawError(description: "the daemon has closed the connection") }
      guard buffer[count - 1] == 0 else { continue }
      let answer = String(decoding: buffer[..<count].prefix(64), as: UTF8.self)
      if answer.contains("\"error\"") { throw RawError(description: "\(method): \(answer)") }
      return
    }
  }
}
