// The replicas of a group, as operators add and remove them.

import CairnControl
import CairnSync
import Logging

extension GroupEngine {
  func stores() throws -> [StoreDescription] {
    let running = try current()
    let status = status()
    let identifiers = Dictionary(
      ((try? running.engine.status().replicas) ?? []).map { ($0.name, $0.storeID) },
      uniquingKeysWith: { first, _ in first })
    var list: [StoreDescription] = []
    if let local = status.local {
      list.append(
        StoreDescription(
          name: local.name, role: .local, type: local.type, location: local.location,
          origin: .configuration, state: local.state.rawValue,
          identifier: running.local.identifier))
    }
    for line in status.replicas {
      list.append(
        StoreDescription(
          name: line.name, role: .replica, type: line.type, location: line.location,
          direction: line.direction, origin: replicas[line.name]?.origin ?? .configuration,
          state: line.state.rawValue, identifier: identifiers[line.name] ?? nil))
    }
    return list
  }

  /// Returns once the replica is remembered, without waiting for it to open.
  func addStore(_ parameters: AddStore.Parameters) async throws -> AddStore.Reply {
    var section = try ReplicaSection(parameters, local: configuration.local)
    let isTrusted = ControlCaller.current.map { $0.role >= .owner } ?? true
    if !isTrusted, replicas[section.name]?.section != section, let path = section.file {
      section.store = .sqlite(path: try await allowedPlace(of: path, named: section.name))
    }
    var isNew = try isNew(section)
    if isNew {
      try checkIsNotMigrating(section)
      try await check(section)
      // Another client may have added it meanwhile.
      isNew = try self.isNew(section)
      if isNew { try checkIsNotMigrating(section) }
    }
    if isNew {
      try remember(commanded + [section], paused: paused)
      try add(section, origin: .command)
      logger.event(
        .storeAdded, "replica \(section.name) added",
        metadata: ["replica": .string(section.name)])
    }
    guard let store = try stores().first(where: { $0.name == section.name }) else {
      throw ControlError.storeNotFound(name: section.name)
    }
    return AddStore.Reply(store: store, added: isNew)
  }

  /// The path of a file for a caller who is not trusted with any place.
  private func allowedPlace(of path: String, named name: String) async throws -> String {
    let folders = StoreFolders(configuration)
    let place = await Blocking.value(atMost: .seconds(5)) {
      Result { () throws(StoreFolders.Refusal) in try folders.place(of: path) }
    }
    switch place {
    case .success(let place)?: return place
    case .failure(let refusal)?:
      throw ControlError.storeInvalid(name: name, field: "location", reason: refusal.reason)
    case nil:
      throw ControlError.storeInvalid(
        name: name, field: "location", reason: "its folder does not answer")
    }
  }

  /// - Throws: ``ControlError`` when the name or the file is taken by another replica.
  private func isNew(_ section: ReplicaSection) throws -> Bool {
    if let old = replicas[section.name] {
      guard old.section == section else {
        throw ControlError.storeExists(
          name: section.name,
          reason: "it has another location or other settings; remove it first, or name them all")
      }
      return false
    }
    if let other = replicas.values.first(where: {
      $0.section.store.place == section.store.place
    }) {
      throw ControlError.storeExists(
        name: other.section.name,
        reason: "the same \(section.file == nil ? "schema" : "file") is a replica under this name")
    }
    return true
  }

  /// Refuses what can never be a replica, before anything is written down; a file that hangs is the
  /// link's business.
  func check(_ section: ReplicaSection) async throws {
    let engine = try current().engine
    do {
      // Cancelling alone ends a look at a mount that hangs.
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await engine.check(section.replicaConfiguration) }
        group.addTask { try await Task.sleep(for: .seconds(5)) }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch let error as SyncError {
      throw ControlError.storeInvalid(
        name: section.name, field: "location", reason: error.message)
    }
  }

  func removeStore(named name: String) async throws {
    guard let replica = replicas[name] else {
      throw OpenGroup.unknownStore(name, among: Array(replicas.keys))
    }
    guard replica.origin == .command else {
      throw ControlError.notPossible(
        code: "named-by-configuration",
        reason: "\(name) stays: the configuration names it; take it out there, then: "
          + "cairnctl reload")
    }
    try remember(
      commanded.filter { $0.name != name }, paused: paused.subtracting([name]))
    try await remove(name)
    troubles.forget(name)
    logger.event(
      .storeRemoved, "replica \(name) removed", metadata: ["replica": .string(name)])
  }

  /// Takes a replica out of the group.
  ///
  /// - Parameter next: The one of that name that is added at once, with other settings.
  func remove(_ name: String, replacedBy next: ReplicaSection? = nil) async throws {
    replicas[name] = nil
    try await end(name, replacedBy: next)
  }

  /// Writes down that names belong to the configuration from now on, and that others are gone.
  func forget(_ named: Set<String>, and removed: Set<String>) throws {
    let sections = commanded.filter { !named.contains($0.name) }
    let gone = paused.intersection(removed.subtracting(named))
    if sections.count == commanded.count, gone.isEmpty { return }
    try remember(sections, paused: paused.subtracting(gone))
  }

  /// Ends a link; one whose file hangs ends when the file answers, and its caller does not wait for it.
  func end(_ name: String, replacedBy next: ReplicaSection? = nil) async throws {
    let engine = try current().engine
    await Blocking.wait(atMost: .seconds(10)) {
      try? await engine.removeReplica(named: name, replacedBy: next?.replicaConfiguration)
    }
  }

  /// Pauses or resumes links and keeps that over restarts.
  func rest(_ names: [String], _ isResting: Bool) throws {
    let engine = try current().engine
    try remember(
      commanded, paused: isResting ? paused.union(names) : paused.subtracting(names))
    if isResting { try engine.pause(names: names) } else { try engine.resume(names: names) }
  }

  /// The replicas that were added by command.
  private var commanded: [ReplicaSection] {
    replicas.values.filter { $0.origin == .command }.map(\.section)
  }

  /// Writes down what must survive a restart, before it is done.
  func remember(_ sections: [ReplicaSection], paused: Set<String>) throws {
    try remembered.save(replicas: sections.sorted { $0.name < $1.name }, paused: paused)
    self.paused = paused
  }
}
