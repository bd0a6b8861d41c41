// Replicas that were added by command: remembered beside the local store.

import CairnPlatform
import Foundation

/// The replicas added while running, in a small JSON file that survives restarts.
///
/// The file is replaced as a whole, so a crash leaves the old list or the new one.
struct RememberedReplicas: Sendable {
  /// One entry of the file.
  private struct Entry: Codable {
    var name: String
    var type: String
    var location: String
    var direction: String
  }

  let path: String

  /// The file beside a local store.
  init(localStore: String) {
    path = localStore + ".replicas.json"
  }

  /// The remembered replicas; none when there is no file.
  ///
  /// - Throws: ``EngineFailure`` when the file is there and cannot be understood: dropping a
  ///   replica in silence would be worse than not starting.
  func load() throws -> [ReplicaSection] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    do {
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      return try JSONDecoder().decode([Entry].self, from: data).map { entry in
        guard entry.type == "sqlite", ReplicaSection.isValid(name: entry.name),
          let direction = ReplicaSection.Direction(rawValue: entry.direction)
        else { throw CocoaError(.fileReadCorruptFile) }
        return ReplicaSection(
          name: entry.name, store: .sqlite(path: entry.location), direction: direction)
      }
    } catch {
      throw EngineFailure(
        code: "replicaListDamaged",
        reason: "\(path), which lists the replicas added by command, cannot be read: \(error). "
          + "Mend or remove it, and add the replicas again.",
        isTransient: false)
    }
  }

  /// Replaces the list.
  func save(_ replicas: [ReplicaSection]) throws {
    let entries = replicas.map { replica -> Entry in
      switch replica.store {
      case .sqlite(let location):
        Entry(
          name: replica.name, type: "sqlite", location: location,
          direction: replica.direction.rawValue)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try AtomicFileWrite.replace(path: path, with: try encoder.encode(entries), mode: 0o600)
  }
}
