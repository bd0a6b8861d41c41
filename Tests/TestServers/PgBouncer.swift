// PgBouncer itself before a server.

import Foundation
import TestSupport

/// Lends the server's sessions to clients; ends with the object, or with the process.
package final class PgBouncer: Sendable {
  /// The folder with the socket; the port is the server's.
  package var folder: String { temporary.path }
  private let temporary: TemporaryFolder
  private let supervisor: Supervisor

  /// The program, installed or unpacked by `make test-tools`.
  package static let program: String? = ["/usr/sbin/pgbouncer", "\(tools)/bin/pgbouncer"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  private static let tools = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../.build/tools/usr").standardizedFileURL.path

  package init(_ mode: Pooler.Mode, to server: PostgreSQLServer) throws {
    guard let program = Self.program else {
      throw ServerProblem(
        description: "NOT RUN: no PgBouncer; `make test-tools` unpacks Debian's package")
    }
    temporary = try TemporaryFolder()
    let folder = temporary.path
    // Where the tools are, the user that it runs as may have no way to.
    try FileManager.default.copyItem(atPath: program, toPath: "\(folder)/pgbouncer")
    let libraries =
      (try? FileManager.default.contentsOfDirectory(atPath: "\(Self.tools)/lib")) ?? []
    for library in libraries where library.hasPrefix("libcares") || library.hasPrefix("libevent") {
      try FileManager.default.copyItem(
        atPath: "\(Self.tools)/lib/\(library)", toPath: "\(folder)/\(library)")
    }
    let settings = """
      [databases]
      postgres = host=\(server.folder) port=\(server.port) dbname=postgres user=owner
      [pgbouncer]
      listen_addr =
      listen_port = \(server.port)
      unix_socket_dir = \(folder)
      auth_type = any
      pool_mode = \(mode.rawValue)

      """
    try settings.write(toFile: "\(folder)/pgbouncer.ini", atomically: false, encoding: .utf8)
    supervisor = try Supervisor(Self.script, in: folder, ["\(server.port)"])
  }

  private static let script = """
    cd "$1" || exit 1
    LD_LIBRARY_PATH="$1" ./pgbouncer -q pgbouncer.ini > log 2>&1 < /dev/null &
    until [ -S ".s.PGSQL.$2" ]; do
      kill -0 $! 2> /dev/null || { echo failed; exit 1; }
      sleep 0.02
    done
    echo ready
    while read -r order; do :; done
    kill $!

    """
}
