// Daemons with a PostgreSQL store as their replica `hub`.
import CairnControl
import Foundation
import TestServers
import TestSupport
import Testing

/// A store at a server, and daemons that have it as their replica `hub`.
struct HubDaemons {
  let server: PostgreSQLServer
  let schema: String
  let folder: TemporaryFolder

  init(_ server: PostgreSQLServer? = nil) throws {
    self.server = try server ?? PostgreSQLServer.shared
    schema = self.server.newName("daemons")
    folder = try TemporaryFolder()
  }

  /// libpq's settings.
  var connection: String { connection(user: "owner") }

  func connection(user: String) -> String {
    "host=\(server.folder) port=\(server.port) dbname=postgres user=\(user)"
  }

  /// What `cairnctl store add` is given.
  var arguments: [String] {
    ["store", "add", "hub", "postgresql", connection, "--schema", schema]
  }

  func make(
    _ name: String, model: String? = nil, isLinked: Bool = true, more: String = "",
    environment: [String: String] = [:]
  ) throws -> Daemon {
    var lines = ["sync: {maxRetryDelay: 1s, pollInterval: 1s}"]
    if isLinked {
      lines += [
        "replicas:",
        "  - {name: hub, type: postgresql, connection: \"\(connection)\", schema: \(schema)}",
      ]
    }
    if !more.isEmpty { lines.append(more) }
    var setup = Daemon.Setup(
      name: name, extra: lines.joined(separator: "\n"), environment: environment)
    if let model { setup.model = model }
    return try Daemon(in: folder, setup)
  }

  /// What SQL gives at the hub; `@` stands for the store's schema.
  func sql(_ text: String) throws -> String {
    try server.query(text.replacing("@", with: "\"\(schema)\"."))
  }
}

/// Suites that need the server.
extension Trait where Self == ConditionTrait {
  static var needsServer: Self {
    .enabled(if: PostgreSQLServer.isAvailable, "\(PostgreSQLServer.absence)")
  }
}
