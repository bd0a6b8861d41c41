import CairnStore
import Foundation

extension Link {
  /// What is exchanged, in the names of the local store, once the replica is open; nil for all.
  var exchanged: EntityFilter? {
    guard let replica else { return filter }
    return filter?.widened(from: local.schema, by: replica.schema)
  }

  /// The steps of a pass, for work beside passes; nil where there is no store that the link writes.
  var steps: SyncPass? {
    openReplica.map {
      SyncPass(
        local: local, replica: $0.access, context: context, replicaContext: $0.context,
        filter: exchanged)
    }
  }

  /// What a kind of replica has to know to reach it.
  func connection(
    beside neighbours: [ReplicaInspection.Neighbour]
  ) async throws -> ReplicaConnection {
    ReplicaConnection(
      configuration: configuration, local: local, coordinator: coordinator, observer: observer,
      neighbours: neighbours, expectedIdentifier: try await formerIdentifier(),
      progress: { [weak self] progress in self?.change { $0.migrate(progress) } },
      hint: { [weak self] in self?.poke() })
  }

  /// Why a replica that is open cannot be read from here; nil for a store, and for one that is not open.
  var unreadable: SyncError? {
    guard let connected, connected.opened == nil else { return nil }
    return SyncError(
      .unsupportedStore,
      "\(configuration.name) is given change sets and has no rows that can be read from here; verify the stores of "
        + "its other members where they are", recovery: .person)
  }

  /// What a pass is to be as the link is configured: in its direction, and asking before it deletes much.
  var setting: PassSetting {
    PassSetting(
      local: local.cachingHead(), context: context, direction: configuration.direction,
      deletions: DeletionGuard(
        replica: configuration.name, limit: local.configuration.deletionLimit),
      checkGoingOn: { [weak self] in try self?.checkGoingOn() },
      batchSize: { [weak self] in self?.batchSize }, filter: exchanged)
  }

  /// Performs steps for as long as a turn is; on the queue.
  func takeTurn(_ machine: PassState, _ pass: any ReplicaPass) throws -> PassState {
    var machine = machine
    let start = environment.now()
    while let step = machine.step {
      try checkGoingOn()
      let report = try Link.$current.withValue(self) { try pass.perform(step) }
      take(report, of: step)
      noteContradictions(in: report)
      machine.take(report.event)
      let now = environment.now()
      // A clock that goes back ends the turn, too.
      if now < start || now - start >= environment.turnLength { break }
    }
    return machine
  }

  /// Values that are not what their write wrote were met: the stores count as different until they are compared.
  ///
  /// Where the disk takes no more, that is forgotten at a restart; the journal has the values.
  private func noteContradictions(in report: PassReport) {
    // What cannot be read is met again each time its record is sent.
    let unreadable = max(0, report.unreadable - (life.differences?.unreadable ?? 0))
    let count = report.contradictions + unreadable
    if count == 0 { return }
    let now = environment.now()
    change { $0.contradicted(count, unreadable: unreadable, now: now) }
    keepDifferences()
  }

  private func keepDifferences() {
    guard let id = try? replica?.ledger().storeID else { return }
    try? local.setKnownDifferences(life.differences, with: id)
  }

  /// What a complete pass has not made visible; on the queue.
  func countHeld(_ pass: any ReplicaPass) throws -> HeldRecords {
    var held = try pass.settle()
    if held.count == 0, life.differences?.areOfHeld == true {
      change { $0.nothingIsHeld() }
      keepDifferences()
    }
    if pass.direction == .both { return held }
    var leftOut = takeLeftOut()
    held.leftOut = try pass.countLeftOut(&leftOut)
    putBack(leftOut)
    return held
  }

  /// A pass asks on the queue, before each step and between the commits of a long one, so that nothing
  /// is begun behind what is performed after `pause()`, and an end waits for one commit at most.
  ///
  /// - Throws: `CancellationError` when the link rests or was removed.
  func checkGoingOn() throws {
    let life = life
    if life.isPaused || life.isRemoved { throw CancellationError() }
  }
}

extension Link {
  /// Whether the replica has to be opened anew: it is another file or version, or its disk has failed.
  static func endsUse(_ failure: SyncError, of replica: OpenReplica?) -> Bool {
    switch failure.code {
    case .fileMoved, .modelChanged, .duplicateReplica: return true
    case .storeUnavailable, .storeReadOnly, .diskFull, .diskFailed, .storeDamaged:
      return failure.path != nil && failure.path == replica?.store.url?.storePlace
    default: return false
    }
  }
}

extension Link {
  /// Notes by which rules of the model this daemon goes in the stores that it writes.
  ///
  /// Where a disk refuses that, the next opening does it.
  private func noteRules(_ replica: any Replica) {
    guard let daemon = try? local.ledger().storeID else { return }
    if configuration.direction.pulls { try? local.noteRules(by: daemon) }
    if configuration.direction.pushes { try? replica.opened?.access.noteRules(by: daemon) }
  }
}

// Which store the replica is.
extension Link {
  /// The UUID of the store that was open last as this replica, also before the engine was there; nil for a
  /// replica that is new, or at another place than then.
  ///
  /// A file that a person has moved away while no engine ran is made anew, in the folder that it was in.
  func formerIdentifier() async throws -> String? {
    try await perform { [self, local, configuration] in
      let url = configuration.url
      if isNew { return nil }
      guard let former = try local.replicaIdentity(named: configuration.name), former.isAt(url)
      else { return nil }
      if !life.hasBeenOpen, url.isFileURL, former.isInFolder(of: url),
        !FileManager.default.fileExists(atPath: url.path)
      {
        return nil
      }
      return former.identifier
    }
  }

  /// Whether the link was stopped by which store its file is: what is said of that depends on which other replicas
  /// there are.
  var isStoppedByItsFile: Bool {
    life.lastError.map { $0.code == .duplicateReplica || $0.code == .anotherStore } ?? false
  }

  /// Whether the link was stopped by its file before it knew of a replica that was added meanwhile.
  func areOthers(than known: [ReplicaInspection.Neighbour]) -> Bool {
    isStoppedByItsFile && Set(neighbours().map(\.name)) != Set(known.map(\.name))
  }

  /// The UUID of the store that the replica was last, without a look at its file; nil, too, where the local
  /// store cannot be read.
  var knownIdentifier: String? {
    if isNew { return nil }
    let former = try? local.replicaIdentity(named: configuration.name)
    return former.flatMap { $0.isAt(configuration.url) ? $0.identifier : nil }
  }

  /// Notes which store the replica is, unless it is removed meanwhile, and by which rules of the model the link goes.
  ///
  /// On a full disk it is forgotten at a restart, and nothing else fails by that.
  func remember(_ replica: any Replica) {
    noteRules(replica)
    guard let identifier = replica.identifier, !life.isRemoved else { return }
    if let former = knownIdentifier, former != identifier {
      report(.madeAnew(replica: configuration.name, path: configuration.url.storePlace))
    }
    let identity = ReplicaIdentity(identifier: identifier, at: configuration.url)
    if (try? local.setReplicaIdentity(identity, named: configuration.name)) != nil { isNew = false }
  }
}
