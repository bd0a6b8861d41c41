// Words for the shell's completion, from the daemon that is running.
import ArgumentParser
import CairnControl
import Foundation

extension CompletionKind {
  /// Names of replicas.
  static var replicas: CompletionKind { asking { names in try names.stores(.replica) } }
  /// Names of replicas, and the local store's.
  static var stores: CompletionKind { asking { names in try names.stores(nil) } }
  /// Replicas, or all of them at once.
  static var replicasOrAll: CompletionKind {
    asking { names in try names.stores(.replica) + ["all"] }
  }
  static var entities: CompletionKind { asking { names in try names.entities() } }
  /// Entities, and what is in the folder that the word names.
  static var entitiesAndFiles: CompletionKind {
    .custom { words, _, prefix in
      let entities = (try? DaemonNames(words).entities()) ?? []
      let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
      let files = try? FileManager.default.contentsOfDirectory(
        atPath: folder.isEmpty ? "." : folder)
      return (entities + (files ?? []).sorted().map { folder + $0 }).filter {
        $0.hasPrefix(prefix) && !$0.contains { $0.isNewline }
      }
    }
  }
  /// Properties of the entity that the line names.
  static var properties: CompletionKind { asking { names in try names.properties() } }
  /// Properties with the sign that a value follows.
  static var assignments: CompletionKind {
    asking { names in try names.properties().map { $0 + "=" } }
  }
  static var conflicts: CompletionKind { asking { names in try names.conflicts() } }
  static var quarantined: CompletionKind { asking { names in try names.quarantined() } }
  static var parked: CompletionKind { asking { names in try names.parked() } }

  /// Without a daemon, or without an answer within a moment, nothing is offered.
  private static func asking(
    _ question: @escaping @Sendable (DaemonNames) throws -> [String]
  ) -> CompletionKind {
    .custom { words, _, prefix in
      guard let names = try? DaemonNames(words), let found = try? question(names) else { return [] }
      return found.filter { $0.hasPrefix(prefix) && !$0.contains { $0.isNewline } }
    }
  }
}

/// What the daemon that a line speaks to knows by name.
struct DaemonNames {
  /// The words of the line so far.
  private let words: [String]
  private let client: ControlClient

  /// How long a person who presses a key waits.
  private static let patience = Duration.seconds(1)
  /// A person does not read more than this.
  private static let most = 100

  init(_ words: [String]) throws {
    self.words = words.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "\"'")) }
    let path = Self.socket(in: self.words, environment: ProcessInfo.processInfo.environment)
    client = try ControlClient(socket: path, timeout: Self.patience)
  }

  /// The socket that the line would use.
  static func socket(in words: [String], environment: [String: String]) -> String {
    if let index = words.lastIndex(of: "--socket"), index + 1 < words.count {
      return words[index + 1]
    }
    if let word = words.last(where: { $0.hasPrefix("--socket=") }) {
      return String(word.dropFirst("--socket=".count))
    }
    return environment["CAIRN_SOCKET"] ?? SharedOptions.usualSocket
  }

  func stores(_ role: StoreDescription.Role?) throws -> [String] {
    try client.call(ListStores.self, NoValues()).stores
      .filter { role == nil || $0.role == role }.map(\.name)
  }

  private func model() throws -> ModelSummary {
    try client.call(GetModel.self, NoValues()).model
  }

  func entities() throws -> [String] {
    try model().entities.filter { !$0.isAbstract }.map(\.name)
  }

  func properties() throws -> [String] {
    let entity = try model().entities.last { words.contains($0.name) }
    return entity.map { $0.attributes.map(\.name) + $0.relationships.map(\.name) } ?? []
  }

  func conflicts() throws -> [String] {
    try client.call(ListConflicts.self, .init(limit: Self.most)).conflicts.map(\.id)
  }

  func quarantined() throws -> [String] {
    try client.call(ListQuarantine.self, .init(limit: Self.most)).entries.map(\.id)
  }

  /// The records that references wait for.
  func parked() throws -> [String] {
    Set(try client.call(ListParked.self, .init(limit: Self.most)).entries.map(\.awaited)).sorted()
  }
}
