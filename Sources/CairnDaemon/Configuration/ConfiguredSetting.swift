// What the configuration comes to, key by key, and where each value was written.

/// One key with the value that is in use.
struct ConfiguredSetting: Sendable, Hashable {
  /// `log.level`, `replicas.nas.path`.
  let key: String
  /// As it is written in a file, with variables filled in; nil for none.
  let value: String?
  /// Where it was written; nil for a default.
  let origin: ConfigurationOrigin?
}

/// A configuration with the origin of each value.
struct LoadedConfiguration: Sendable {
  let configuration: DaemonConfiguration
  /// Every key, in the order of `Config/cairnd.yaml`.
  let settings: [ConfiguredSetting]

  init(_ configuration: DaemonConfiguration, from root: ConfigurationNode) {
    self.configuration = configuration
    settings = SettingList(configuration, root).settings
  }
}

/// Lists the keys of a configuration.
private struct SettingList {
  private(set) var settings: [ConfiguredSetting] = []
  private let root: ConfigurationNode

  init(_ configuration: DaemonConfiguration, _ root: ConfigurationNode) {
    self.root = root
    switch configuration.model {
    case .file(let path): add(["model"], path)
    case .fromStore: add(["model"], "from-store")
    }
    let control = configuration.control
    add(["control", "socket"], control.socket)
    addGroup("statusGroup", control.statusGroup, usual: "cairn")
    addGroup("adminGroup", control.adminGroup, usual: "cairn-admin")
    add(["control", "maxConnections"], "\(control.maxConnections)")
    let folders = control.storeFolders
    add(["control", "storeFolders"], folders.isEmpty ? nil : folders.joined(separator: ", "))
    add(["local", "path"], configuration.local.path)
    add(["local", "durability"], configuration.local.durability.rawValue)
    if configuration.replicas.isEmpty { add(["replicas"], nil) }
    for replica in configuration.replicas { add(replica) }
    add(configuration.sync)
    add(["backup", "folder"], configuration.backup.folder)
    add(["metrics", "socket"], configuration.metrics.socket)
    add(["metrics", "address"], configuration.metrics.address?.text)
    add(["log", "level"], configuration.log.level.rawValue)
    add(["log", "format"], configuration.log.format.rawValue)
  }

  private mutating func add(_ path: [String], _ value: String?) {
    settings.append(
      ConfiguredSetting(
        key: path.joined(separator: "."), value: value, origin: root.written(at: path)?.origin))
  }

  /// A group by its name, which the typed configuration has given up for a number.
  private mutating func addGroup(_ key: String, _ group: UInt32?, usual: String) {
    let path = ["control", key]
    add(path, group == nil ? nil : root.written(at: path)?.scalarText ?? usual)
  }

  private mutating func add(_ replica: ReplicaSection) {
    let path = ["replicas", replica.name]
    add(path + ["name"], replica.name)
    switch replica.store {
    case .sqlite(let file):
      add(path + ["type"], replica.store.kind.rawValue)
      add(path + ["path"], file)
    case .postgreSQL(let section):
      add(path + ["type"], replica.store.kind.rawValue)
      add(path + ["connection"], section.connection)
      add(path + ["schema"], section.schema)
      add(path + ["credential"], section.credential)
      add(path + ["captureSQL"], "\(section.capturesSQL)")
    }
    add(path + ["direction"], replica.direction.rawValue)
    add(path + ["entities"], replica.entities.map { $0.sorted().joined(separator: ", ") })
    add(path + ["migrate"], "\(replica.migrates)")
    add(path + ["required"], "\(replica.isRequired)")
  }

  private mutating func add(_ sync: SyncSection) {
    add(["sync", "conflict", "default"], sync.defaultConflict.rawValue)
    if sync.entityConflicts.isEmpty { add(["sync", "conflict", "entities"], nil) }
    for (entity, conflict) in sync.entityConflicts.sorted(by: { $0.key < $1.key }) {
      add(["sync", "conflict", "entities", entity], conflict.rawValue)
    }
    add(["sync", "maxClockSkew"], sync.maxClockSkew.inWords)
    add(["sync", "retention"], sync.retention.inWords)
    add(["sync", "verify", "every"], sync.verifyEvery.inWords)
    add(["sync", "deletions", "most"], "\(sync.mostDeletions)")
    add(["sync", "deletions", "share"], "\(sync.deletionShare)")
    add(["sync", "deletions", "smallest"], "\(sync.smallestEntity)")
    add(["sync", "pollInterval"], sync.pollInterval.inWords)
    add(["sync", "maxRetryDelay"], sync.maxRetryDelay.inWords)
    add(["sync", "requiredWait"], sync.requiredWait.inWords)
  }
}

extension ConfigurationNode {
  /// What is written at a path; nil where nothing is, and for an empty group.
  ///
  /// A member of a list is reached by
  /// its name.
  func written(at path: [String]) -> ConfigurationNode? {
    var node = self
    for key in path {
      let next: ConfigurationNode?
      if case .sequence(let members) = node.content {
        next = members.first { $0["name"]?.scalarText == key }
      } else {
        next = node[key]
      }
      guard let next else { return nil }
      node = next
    }
    switch node.content {
    case .null: return nil
    case .mapping(let entries): return entries.isEmpty ? nil : node
    case .sequence(let members): return members.isEmpty ? nil : node
    case .scalar: return node
    }
  }
}
