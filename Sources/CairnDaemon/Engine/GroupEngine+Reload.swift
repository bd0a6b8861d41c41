// Replicas that the configuration names, changed while the engine runs.

import CairnControl
import CairnSync

extension GroupEngine {
  /// Adds, changes and removes replicas until they are those of another configuration, which differs in
  /// nothing else that concerns the engine.
  ///
  /// Those that were added by command stay, but for one that the configuration now names. A replica whose
  /// settings change is removed and added; its file stays and its link goes on where it was.
  ///
  /// - Throws: ``ConfigurationInvalid`` when one of them can be no replica, `busy` when the store of one is being
  ///   migrated; nothing has changed then.
  func take(_ new: DaemonConfiguration) async throws {
    let added = new.replicas.filter { replicas[$0.name]?.section != $0 }
    let removed = replicas.values.filter { replica in
      guard let wanted = new.replicas.first(where: { $0.name == replica.section.name }) else {
        return replica.origin == .configuration
      }
      return wanted != replica.section
    }.map(\.section)
    for section in added { try checkIsNotMigrating(section) }
    let staying = replicas.filter { name, _ in !removed.contains { $0.name == name } }
    try await check(added, beside: staying.values.map(\.section), instead: removed)
    let named = Set(new.replicas.map(\.name))
    try forget(named, and: Set(removed.map(\.name)))
    for old in removed {
      guard let next = added.first(where: { $0.name == old.name }) else { continue }
      troubles.replace(old.name, isSameFile: next.store.place == old.store.place)
    }
    defer { troubles.keep(only: Set(replicas.keys)) }
    for section in removed {
      try await remove(section.name, replacedBy: added.first { $0.name == section.name })
    }
    for section in added { try add(section, origin: .configuration) }
    for name in named { replicas[name]?.origin = .configuration }
    configuration = new
    for (sections, event, word) in [
      (removed, DaemonEvent.storeRemoved, "removed"), (added, .storeAdded, "added"),
    ] {
      for section in sections {
        logger.event(
          event, "replica \(section.name) \(word) by a reload",
          metadata: ["replica": .string(section.name)])
      }
    }
  }

  /// Refuses what can never be a replica.
  private func check(
    _ added: [ReplicaSection], beside staying: [ReplicaSection], instead removed: [ReplicaSection]
  ) async throws {
    var problems: [ConfigurationProblem] = []
    func report(_ section: ReplicaSection, _ problem: String) {
      problems.append(
        ConfigurationProblem(
          origin: ConfigurationOrigin(source: "configuration"),
          key: "replicas.\(section.name).\(section.file == nil ? "connection" : "path")",
          problem: problem))
    }
    for section in added {
      if let other = staying.first(where: { $0.store.place == section.store.place }) {
        report(
          section, "\(section.location) is the replica \(other.name) already, added by command")
        continue
      }
      // The file of a replica that goes is free, and looks taken for as long as it is there.
      if removed.contains(where: { $0.store.place == section.store.place }) { continue }
      do {
        try await check(section)
      } catch let ControlError.storeInvalid(_, _, reason) {
        report(section, reason)
      }
    }
    if !problems.isEmpty { throw ConfigurationInvalid(problems: problems) }
  }
}
