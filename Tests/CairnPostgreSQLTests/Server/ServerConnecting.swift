// Connections of tests to the server that they start.

import TestServers

@testable import CairnPostgreSQL

extension PostgreSQLServer {
  /// Settings of connections to the server as its owner.
  func settings(
    database: String = "postgres", user: String = "owner", more: String = ""
  ) throws -> ConnectionParameters {
    try ConnectionParameters(
      "host='\(folder)' port=\(port) dbname=\(database) user=\(user) \(more)", environment: [:])
  }

  func connect(
    database: String = "postgres", user: String = "owner", more: String = ""
  ) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(settings(database: database, user: user, more: more))
  }
}
