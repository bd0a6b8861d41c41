import CairnContext
import CairnModel
import CairnStore
import Foundation

/// The shell of one pass: performs the steps of ``PassState`` on two stores.
///
/// Every step is one commit at most, so a pass can end after any of them; a capture is many, and can end
/// between two. Used on the queue of the link's context; between steps the queue is free.
// Unchecked: values and references that are Sendable themselves.
struct SyncPass: @unchecked Sendable {
  let local: StoreAccess
  let replica: StoreAccess
  let context: ManagedObjectContext
  /// Where what the replica is given is merged, for one with a model of its own; nil for `context`.
  var replicaContext: ManagedObjectContext?
  var direction = SyncDirection.both
  /// Nil for a pass that deletes whatever there is to delete.
  var deletions: DeletionGuard?
  /// Called between the commits of a capture; what it throws ends the pass there.
  var checkGoingOn: @Sendable () throws -> Void = {}
  /// How many records the next set has; nil for the configured number.
  var batchSize: @Sendable () -> Int? = { nil }

  private let ahead = ReadAhead()

  /// What of their records the two exchange; nil for all.
  var filter: EntityFilter?

  /// What a step did.
  struct Report: Sendable {
    var event: PassState.Event
    var captured = 0
    var records = 0
    var links = 0
    var conflicts = 0
    /// What was put into quarantine.
    var held: [QuarantineEntry.Content] = []
    var replans = 0
    /// Whether a program has written to the destination since the set before.
    var metWriters = false
    /// Where the destination's cursor is now, after a move.
    var position: UInt64?
    /// How much of the first copy is done, while it runs.
    var progress: Double?
    /// The stores that were found to have gone back in time, by their paths.
    var restored: [String] = []
    /// The stores whose clock had run ahead of this machine's, by their paths, in milliseconds.
    var fallenBack: [String: UInt64] = [:]
    /// The stores whose history was gone before it was captured.
    var gaps: [String] = []
    /// The stores that had been away for longer than the retention, by their paths, with the number of
    /// records and links that had been deleted meanwhile.
    var returned: [String: Int] = [:]

    mutating func take(_ outcome: ChangeImporter.Outcome) {
      records += outcome.records
      links += outcome.links
      conflicts += outcome.conflicts
      held += outcome.held
      replans += outcome.replans
      metWriters = metWriters || outcome.metWriters
    }
  }

  /// Whether both stores are the files that their names lead to, and have no other names.
  ///
  /// - Throws: ``SyncError``: `fileMoved` or `duplicateReplica` for the replica, `storeUnavailable` for the local
  ///   store; what the replica throws that cannot be asked.
  private func checkFiles() throws {
    do {
      try (local.store as? any FilePlaceChecking)?.checkFilePlace()
    } catch let error as CoreDataError {
      throw SyncError(
        .storeUnavailable, error.message, recovery: .wait, path: local.store.url?.path)
    }
    do {
      try (replica.store as? any FilePlaceChecking)?.checkFilePlace()
    } catch let error as CoreDataError {
      throw SyncError(.fileMoved, error.message, recovery: .retry)
    }
    if try (replica.store as? any ExchangeNoticing)?.isExchanged() == true {
      throw SyncError(
        .fileMoved, "\(Self.place(of: replica)) is another store now, or none", recovery: .retry)
    }
    if let count = local.store.severalFileNames, let path = local.store.url?.path {
      throw SyncError(
        .storeUnavailable, ReplicaInspection.textOfNames(count, path), recovery: .wait, path: path)
    }
    if let count = replica.store.severalFileNames {
      throw SyncError(
        .duplicateReplica,
        ReplicaInspection.textOfNames(count, replica.store.url?.path ?? context.name ?? ""),
        recovery: .person)
    }
  }

  func perform(_ step: PassState.Step) throws -> Report {
    forgetHeads()
    switch step {
    case .identify: return try identify()
    case .captureLocal:
      return Report(event: .captured, captured: try capture(local))
    case .captureReplica:
      var report = Report(event: .captured, captured: try capture(replica))
      report.gaps = try HistoryGap.compare(local, replica).map(Self.place)
      // A store that takes nothing from the other does not take its deletes either.
      for (store, source, isTaking) in [
        (local, replica, direction.pulls), (replica, local, direction.pushes),
      ] where isTaking {
        if let count = try comeBack(store, to: source) {
          report.returned[Self.place(of: store)] = count
        }
      }
      return report
    case .retryHeld(let side): return try retryHeld(side == .pull ? local : replica)
    case .move(.pull): return try move(from: replica, to: local)
    case .move(.push): return try move(from: local, to: replica)
    }
  }

  /// What was read in the step before may have changed since.
  private func forgetHeads() {
    local.headCache?.forget()
    replica.headCache?.forget()
  }

  private func capture(_ store: StoreAccess) throws -> Int {
    try HistoryCapture(access: store).run { _ in try checkGoingOn() }
  }

  /// Before anything is exchanged: whether both are the stores that they were.
  private func identify() throws -> Report {
    try checkFiles()
    var report = Report(event: .identified)
    for (store, reader, isTaking) in [
      (local, replica, direction.pulls), (replica, local, direction.pushes),
    ] {
      let isRestored = try store.renewIfRestored(asSeenBy: reader) {
        let isRead = store.store === local.store ? direction.pushes : direction.pulls
        // What it had told of when it was copied is what the reader had of it for certain.
        if isRead, !isTaking, let note = try store.readers()[reader.ledger().storeID] {
          try rememberDeletes(of: reader, stillIn: store, upTo: note.position)
        }
        // Under a new identity nothing would tell what the other had of it.
        if isTaking, let count = try comeBack(store, to: reader, isRestored: true) {
          report.returned[Self.place(of: store)] = count
        }
      }
      if isRestored { report.restored.append(Self.place(of: store)) }
    }
    if direction.pulls { try take(from: replica, to: local) }
    if direction.pushes { try take(from: local, to: replica) }
    for store in [local, replica] {
      if let ahead = try ClockRestart(access: store).runIfNeeded() {
        report.fallenBack[Self.place(of: store)] = ahead
      }
    }
    return report
  }

  private static func place(of access: StoreAccess) -> String {
    access.store.url?.storePlace ?? access.store.identifier ?? ""
  }

  /// Deletes in a store that was away for longer than the retention what was deleted meanwhile.
  ///
  /// - Throws: ``ApprovalNeeded`` when that is more than is configured.
  /// - Returns: How many records and links; nil when it was not away for so long.
  private func comeBack(
    _ store: StoreAccess, to source: StoreAccess, isRestored: Bool = false
  ) throws -> Int? {
    let isLocal = store.store === local.store
    let reader = ReturningReader(
      access: store, source: source, filter: filter, names: local.schema,
      isRead: isLocal ? direction.pushes : direction.pulls, isRestored: isRestored)
    guard try reader.isExpired() else { return nil }
    try deletions?.check(reader, isLocal: isLocal)
    var count = 0
    try reader.findForgotten { set in
      count += set.records.count + set.links.count
      _ = try importing(to: store) { importer in
        var importer = importer
        importer.journalsDeletes = true
        return try importer.apply(set, cursor: nil)
      }
    }
    // A store that begins anew sends all it has.
    if !isRestored { try reader.sendLinksAgain() }
    return count
  }

  /// What has arrived in either store through this link and is not visible there.
  ///
  /// Looks at the files once more: what was exchanged after the pass began has not been served, and the
  /// link must not be called in step.
  func held() throws -> HeldRecords {
    try checkFiles()
    forgetHeads()
    var result = HeldRecords()
    if direction.pushes {
      let targets = ForgottenTargets(access: replica, source: local)
      result =
        result
        + (try replica.held(filter: filter(in: replica), hasArrived: targets.haveArrived()))
    }
    if direction.pulls {
      let targets = ForgottenTargets(access: local, source: replica)
      let ledger = try replica.ledger()
      result =
        result
        + (try local.held(
          from: Set(try ledger.formerIDs() + [ledger.storeID]), filter: filter,
          hasArrived: targets.haveArrived()))
    }
    return result
  }

  /// Counts what the direction leaves out, for a pass of one direction.
  func count(_ leftOut: inout LeftOut) throws {
    forgetHeads()
    let (source, destination) = direction == .pull ? (local, replica) : (replica, local)
    try leftOut.update(
      from: source, missingIn: destination, filter: filter(in: source), afterPage: checkGoingOn)
  }

  /// Runs work on the queue on which objects of a store are merged.
  ///
  /// - Parameter source: The store that only a part of what it has done comes from.
  func importing<Value>(
    to access: StoreAccess, partOf source: StoreAccess? = nil,
    _ work: (ChangeImporter) throws -> Value
  ) throws -> Value {
    let reading = try source.map { source -> KnownLoading.SourceReading in
      let exporter = ChangeExporter(access: source, destination: try access.ledger().storeID)
      return { try wanted(exporter.states(of: $0), from: source, to: access).records }
    }
    guard let replicaContext, access.store === replica.store else {
      return try work(ChangeImporter(access: access, context: context, source: reading))
    }
    return try replicaContext.performAndWait {
      try work(ChangeImporter(access: access, context: replicaContext, source: reading))
    }
  }

  private func move(from source: StoreAccess, to destination: StoreAccess) throws -> Report {
    let served = try destination.ledger()
    let sourceID = try source.ledger().storeID
    let exporter = ChangeExporter(
      access: source, destination: served.storeID, batchSize: batchSize())
    var cursor = try served.cursor(for: sourceID)
    if cursor == SyncCursor() { cursor.streamingUntil = try exporter.end() }
    try source.offer(
      to: served.storeID, at: cursor.position,
      name: destination.store === replica.store ? context.name ?? "" : local.configuration.name)
    let read = ahead.take(after: cursor, from: sourceID, by: exporter)
    let next = try read ?? exporter.next(after: cursor)
    // Between the look at the beginning of the pass and this, as on a machine that slept, other daemons may have had
    // the source forget what the destination has yet to hear of.
    let isBehind = try source.ledger().retention().floor > cursor.furthest
    let forgotten = try isBehind ? comeBack(destination, to: source) : nil
    let returned = forgotten.map { [Self.place(of: destination): $0] } ?? [:]
    guard let set = next else {
      var report = Report(event: .drained)
      report.position = cursor.position
      report.returned = returned
      return report
    }
    // Once the set is read: what another daemon commits after a look would be read unseen.
    try deletions?.check(
      from: source, to: destination, isLocal: destination.store === local.store, after: cursor,
      filter: filter(in: destination))
    let end = SyncCursor(
      position: set.upTo, streamingUntil: cursor.streamingUntil,
      mark: try source.mark(at: set.upTo))
    let wanted = wanted(set, from: source, to: destination)
    let isPart = set.upTo <= cursor.streamingUntil
    let isFull = set.records.count + set.links.count >= exporter.batchSize / 2
    let finishReading = isFull ? ahead.begin(after: end, by: exporter) : {}
    defer { finishReading() }
    if served.head.gap == .values {
      try HistoryGap(access: destination).compare(with: wanted.records)
    }
    let outcome = try importing(to: destination, partOf: isPart ? source : nil) {
      try $0.apply(wanted, cursor: end)
    }
    var report = Report(event: wanted.isEmpty ? .passedOver : .moved)
    report.take(outcome)
    report.returned = returned
    report.position = end.position
    if cursor.isStreaming {
      report.progress = min(1, Double(end.position) / Double(max(1, cursor.streamingUntil)))
    }
    return report
  }

  /// The filter in the names of a store.
  private func filter(in access: StoreAccess) -> EntityFilter? {
    filter?.translated(from: local.schema, to: access.schema)
  }

  /// What of a change set the destination takes, in its own names; the filter is in those of the local
  /// store.
  func wanted(
    _ set: ChangeSet, from source: StoreAccess, to destination: StoreAccess
  ) -> ChangeSet {
    var set = set
    if let filter, source.store === local.store { set = filter.changes(set) }
    if source.schema !== destination.schema {
      set = SchemaTranslation(from: source.schema.names, to: destination.schema).changes(set)
    }
    if let filter, destination.store === local.store { set = filter.changes(set) }
    return set
  }
}
