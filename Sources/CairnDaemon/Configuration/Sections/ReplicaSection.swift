// `replicas`: the other stores of the group.
import Cairn
import Foundation

/// One replica.
public struct ReplicaSection: Sendable, Hashable {
  /// Which way changes go.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    case both, push, pull
  }

  /// What kind of store it is and where.
  public enum Store: Sendable, Hashable {
    case sqlite(path: String)
    case postgreSQL(PostgreSQLSection)
  }

  /// The words for kinds of stores.
  enum Kind: String, CaseIterable {
    case sqlite, postgresql
  }

  /// Unique in the group; letters, digits, `.`, `_` and `-`.
  public var name: String
  public var store: Store
  public var direction: Direction
  /// The entities that it has, with their subentities; nil for all.
  public var entities: Set<String>?
  /// Whether a file of an older version of the model is brought to this one without being asked.
  public var migrates: Bool
  /// The daemon is not READY before it is open.
  public var isRequired: Bool

  public init(
    name: String, store: Store, direction: Direction = .both, entities: Set<String>? = nil,
    migrates: Bool = true, isRequired: Bool = false
  ) {
    self.name = name
    self.store = store
    self.direction = direction
    self.entities = entities
    self.migrates = migrates
    self.isRequired = isRequired
  }

  /// Whether a name can be used in commands, logs and files.
  public static func isValid(name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name != "local" && name != "all"
      && name.first != "-" && name.first != "."
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  static func readAll(_ root: SectionReader, local: LocalSection?) -> [ReplicaSection] {
    var names: Set<String> = []
    var places: [Store: String] = local.map { [.sqlite(path: $0.path): "local"] } ?? [:]
    return root.list("replicas").compactMap { reader in
      guard let replica = read(reader) else { return nil }
      if !names.insert(replica.name).inserted {
        reader.report("name", "two replicas are called \"\(replica.name)\"", "rename one")
        return nil
      }
      if let other = places.updateValue(replica.name, forKey: replica.store.place) {
        switch replica.store {
        case .sqlite(let path):
          reader.report("path", "\(path) is used by \"\(other)\" already", "give each its own file")
        case .postgreSQL(let section):
          reader.report(
            "connection", "\(section.location) is used by \"\(other)\" already",
            "give each a schema of its own")
        }
        return nil
      }
      return replica
    }
  }

  private static func read(_ reader: SectionReader) -> ReplicaSection? {
    let name = reader.requiredText("name", remedy: "give each replica a short name")
    if let name, !isValid(name: name) {
      reader.report(
        "name", "\"\(name)\" cannot be a replica's name",
        "use up to 64 letters, digits, \".\", \"_\" and \"-\"; \"local\" and \"all\" are taken")
    }
    let kind = reader.choice("type", default: Kind.sqlite)
    let store: Store?
    switch kind {
    case .sqlite:
      let text = reader.requiredText("path", remedy: "name the replica's SQLite file")
      store = reader.filePath(text, key: "path").map { .sqlite(path: $0) }
    case .postgresql:
      store = PostgreSQLSection.read(reader).map { .postgreSQL($0) }
    }
    let direction = reader.choice("direction", default: Direction.both)
    let entities = reader.texts("entities").map(Set.init)
    if entities?.isEmpty == true {
      reader.report(
        "entities", "a replica without entities has nothing to keep",
        "name some, or leave the key out to have all")
    }
    let migrates = reader.flag("migrate", default: true)
    let isRequired = reader.flag("required", default: false)
    reader.finish()
    guard let name, let store else { return nil }
    return ReplicaSection(
      name: name, store: store, direction: direction, entities: entities, migrates: migrates,
      isRequired: isRequired)
  }
}
