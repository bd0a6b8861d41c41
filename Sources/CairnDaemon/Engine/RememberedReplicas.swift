// What was decided by command and must survive a restart: kept beside the local store.

import CairnControl
import CairnPlatform
import Foundation

/// The replicas added while running and the links paused, in a small JSON file that survives
/// restarts.
///
/// The file is replaced as a whole, so a crash leaves the old list or the new one.
struct RememberedReplicas: Sendable {
  /// One entry of the file.
  private struct Entry: Codable {
    var name: String
    var type: String
    var location: String
    var direction: String
    /// Of a PostgreSQL store.
    var schema: String?
    var credential: String?
    /// Nil in lists of before there were these.
    var entities: [String]?
    var migrates: Bool?
    var isRequired: Bool?
  }

  /// The whole file.
  private struct Content: Codable {
    var replicas: [Entry]
    var paused: [String]
  }

  let path: String

  /// The file beside a local store.
  init(localStore: String) {
    path = localStore + ".replicas.json"
  }

  /// What is remembered; nothing when there is no file.
  ///
  /// - Throws: ``EngineFailure`` when the file is there and cannot be understood: dropping a
  ///   replica in silence would be worse than not starting.
  func load() throws -> (replicas: [ReplicaSection], paused: Set<String>) {
    guard FileManager.default.fileExists(atPath: path) else { return ([], []) }
    do {
      guard try FileFacts(path: path).isRegularFile else { throw CocoaError(.fileReadCorruptFile) }
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      let content = try JSONDecoder().decode(Content.self, from: data)
      let replicas = try content.replicas.map { entry in
        guard let kind = ReplicaSection.Kind(rawValue: entry.type),
          ReplicaSection.isValid(name: entry.name),
          let direction = ReplicaSection.Direction(rawValue: entry.direction)
        else { throw CocoaError(.fileReadCorruptFile) }
        let store: ReplicaSection.Store =
          switch kind {
          case .sqlite: .sqlite(path: entry.location)
          case .postgresql:
            .postgreSQL(
              try PostgreSQLSection(
                connection: entry.location, schema: entry.schema, credential: entry.credential))
          }
        return ReplicaSection(
          name: entry.name, store: store, direction: direction,
          entities: entry.entities.map(Set.init), migrates: entry.migrates ?? true,
          isRequired: entry.isRequired ?? false)
      }
      return (replicas, Set(content.paused))
    } catch {
      throw EngineFailure(
        code: "replica-list-damaged",
        reason: "\(path), which lists the replicas added by command and the links paused, cannot "
          + "be read. Mend or remove it, and add the replicas again.",
        isTransient: false)
    }
  }

  /// Replaces the file.
  ///
  /// - Throws: `storeUnavailable` when it cannot be written; the old one is untouched then.
  func save(replicas: [ReplicaSection], paused: Set<String>) throws {
    let entries = replicas.map { replica -> Entry in
      var entry = Entry(
        name: replica.name, type: replica.store.kind.rawValue, location: replica.location,
        direction: replica.direction.rawValue, entities: replica.entities?.sorted(),
        migrates: replica.migrates, isRequired: replica.isRequired)
      if case .postgreSQL(let section) = replica.store {
        (entry.location, entry.schema) = (section.connection, section.schema)
        entry.credential = section.credential
      }
      return entry
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      let data = try encoder.encode(Content(replicas: entries, paused: paused.sorted()))
      try AtomicFileWrite.replace(path: path, with: data, mode: 0o600)
    } catch let error as PlatformError {
      throw ControlError.storeUnavailable(
        name: "local", code: "not-remembered",
        reason: "the change would be forgotten with a restart and was not made: \(error)")
    }
  }
}
