// A server that is too old, as far as a client sees of it that asks for nothing more.

import CairnPlatform
import Foundation
import Synchronization

/// Takes connections as a PostgreSQL server of some version does, and knows nothing else.
package final class OldServer: Sendable {
  package let folder: String
  private let listener: UnixListener
  private let isOver = Mutex(false)

  /// - Parameters:
  ///   - folder: An empty one, for the socket.
  ///   - version: As the server says it, such as `12.17`.
  package init(in folder: String, port: Int, version: String) throws {
    self.folder = folder
    let listener = try UnixListener(path: Self.socket(folder, port), mode: 0o777)
    self.listener = listener
    let answer =
      serverMessage("R", [0, 0, 0, 0])
      + serverMessage("S", Array("server_version\0\(version)\0".utf8))
      + serverMessage("S", Array("client_encoding\0UTF8\0".utf8))
      + serverMessage("K", [0, 0, 0, 1, 0, 0, 0, 2]) + serverMessage("Z", Array("I".utf8))
    Thread.detachNewThread { [weak self] in
      while self?.isOver.withLock({ $0 }) == false {
        guard let client = try? listener.accept(timeout: .milliseconds(200)) else { continue }
        Thread.detachNewThread {
          guard let first = try? client.read(), !first.isEmpty else { return }
          try? client.write(answer)
          while let more = try? client.read(), !more.isEmpty {}
        }
      }
    }
  }

  deinit { listener.remove() }

  private static func socket(_ folder: String, _ port: Int) -> String {
    "\(folder)/.s.PGSQL.\(port)"
  }

  /// Another server takes its place, at the same address.
  package func giveWay(to server: PostgreSQLServer) throws {
    isOver.withLock { $0 = true }
    listener.remove()
    try FileManager.default.createSymbolicLink(
      atPath: Self.socket(folder, server.port),
      withDestinationPath: Self.socket(server.folder, server.port))
  }
}
