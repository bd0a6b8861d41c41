// A PostgreSQL store that several daemons share, as their tests start it.

import CairnContext
import CairnCoordinator
import CairnModel
import CairnPostgreSQL
import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnSync

/// A store at a server, and daemons with local SQLite stores that have it as the replica `hub`.
struct Hub {
  let server: PostgreSQLServer
  let schema: String
  let url: URL
  let scratch: Scratch

  init(_ server: PostgreSQLServer? = nil) throws {
    self.server = try server ?? PostgreSQLServer.shared
    schema = self.server.newName("hub")
    url = try #require(self.server.storeURL(schema))
    scratch = try Scratch()
  }

  /// A daemon that is not linked with the hub yet.
  func daemon(
    _ name: String, model: ManagedObjectModel = SampleModel.make(),
    environment: SyncEnvironment = .live, policy: DeleteConflictPolicy = .lastWriter,
    configure: (inout SyncConfiguration) -> Void = { _ in }
  ) throws -> SyncEngineTests.Daemon {
    try SyncEngineTests.Daemon(
      name, in: scratch, model: model, kinds: [PostgreSQLStoreKind()], environment: environment,
      policy: policy, noticesCommits: true, configure: configure)
  }

  func configuration(direction: SyncDirection = .both) -> ReplicaConfiguration {
    ReplicaConfiguration(
      name: "hub", type: PostgreSQLStore.typeName, url: url, direction: direction)
  }

  /// Daemons that are linked with the hub.
  func daemons(_ names: String...) throws -> [SyncEngineTests.Daemon] {
    try names.map { name in
      let daemon = try daemon(name)
      try daemon.engine.addReplica(configuration())
      return daemon
    }
  }

  /// Runs SQL at the server, as another program does.
  ///
  /// - Parameter text: `@` stands for the store's schema.
  @discardableResult
  func sql(_ text: String) throws -> String {
    try server.query(text.replacing("@", with: "\"\(schema)\"."))
  }
}

/// What kind of store a replica is.
enum HubPlace: String, CaseIterable, Sendable {
  case file, database

  /// All that there are here.
  static var all: [HubPlace] { PostgreSQLServer.isAvailable ? allCases : [.file] }

  /// A replica of its own.
  func configuration(_ name: String, in scratch: Scratch) throws -> ReplicaConfiguration {
    switch self {
    case .file:
      return ReplicaConfiguration(
        name: name, url: scratch.url.appendingPathComponent("\(name).sqlite"))
    case .database:
      let server = try PostgreSQLServer.shared
      let url = try #require(server.storeURL(server.newName("hub")))
      return ReplicaConfiguration(name: name, type: PostgreSQLStore.typeName, url: url)
    }
  }
}

extension SyncEngineTests.Daemon {
  /// What an application sees in a replica.
  func picture(of replica: String) throws -> [String] {
    let link = try engine.link(replica)
    let open = try #require(link.openReplica)
    return try Fleet.Site(name: replica, access: open.access, coordinator: open.coordinator)
      .picture()
  }
}

/// Suites that need the server.
extension Trait where Self == ConditionTrait {
  static var needsServer: Self {
    .enabled(if: PostgreSQLServer.isAvailable, "\(PostgreSQLServer.absence)")
  }
}
