// What differs between two configurations, and what that asks of a running daemon.

/// The keys whose values differ.
struct ConfigurationChanges: Sendable, Hashable {
  /// Every key, in the order of the file: `log.level`, `replicas.nas`.
  private(set) var keys: [String] = []
  /// Those of them that a running daemon cannot take over.
  private(set) var needingRestart: [String] = []
  /// Whether links have to be made anew by another engine.
  private(set) var isEngineConcerned = false
  /// Whether the keeper of the engine needs the new ones: what it is not, roles and the log take by themselves.
  private(set) var isKeeperConcerned = false

  init(from old: DaemonConfiguration, to new: DaemonConfiguration) {
    func fixed<Value: Equatable>(_ key: String, _ path: KeyPath<DaemonConfiguration, Value>) {
      guard old[keyPath: path] != new[keyPath: path] else { return }
      keys.append(key)
      needingRestart.append(key)
    }
    func outside<Value: Equatable>(_ key: String, _ path: KeyPath<DaemonConfiguration, Value>) {
      if old[keyPath: path] != new[keyPath: path] { keys.append(key) }
    }
    func live<Value: Equatable>(_ key: String, _ path: KeyPath<DaemonConfiguration, Value>) {
      guard old[keyPath: path] != new[keyPath: path] else { return }
      keys.append(key)
      isKeeperConcerned = true
    }
    func sync<Value: Equatable>(_ key: String, _ path: KeyPath<SyncSection, Value>) {
      guard old.sync[keyPath: path] != new.sync[keyPath: path] else { return }
      keys.append("sync.\(key)")
      (isEngineConcerned, isKeeperConcerned) = (true, true)
    }
    fixed("model", \.model)
    fixed("control.socket", \.control.socket)
    outside("control.statusGroup", \.control.statusGroup)
    outside("control.adminGroup", \.control.adminGroup)
    fixed("control.maxConnections", \.control.maxConnections)
    live("control.storeFolders", \.control.storeFolders)
    fixed("local.path", \.local.path)
    fixed("local.durability", \.local.durability)
    addReplicas(old.replicas, new.replicas)
    // Their order is none of the keys.
    if old.replicas != new.replicas { isKeeperConcerned = true }
    sync("conflict.default", \.defaultConflict)
    sync("conflict.entities", \.entityConflicts)
    sync("maxClockSkew", \.maxClockSkew)
    sync("retention", \.retention)
    sync("verify.every", \.verifyEvery)
    sync("deletions.most", \.mostDeletions)
    sync("deletions.share", \.deletionShare)
    sync("deletions.smallest", \.smallestEntity)
    sync("pollInterval", \.pollInterval)
    sync("maxRetryDelay", \.maxRetryDelay)
    live("sync.requiredWait", \.sync.requiredWait)
    live("backup.folder", \.backup.folder)
    fixed("metrics.socket", \.metrics.socket)
    fixed("metrics.address", \.metrics.address)
    outside("log.level", \.log.level)
    fixed("log.format", \.log.format)
  }

  private mutating func addReplicas(_ old: [ReplicaSection], _ new: [ReplicaSection]) {
    for replica in old where !new.contains(replica) { keys.append("replicas.\(replica.name)") }
    for replica in new where !old.contains(where: { $0.name == replica.name }) {
      keys.append("replicas.\(replica.name)")
    }
  }
}
