import CairnContext
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// The pass over a replica that is a store: performs the steps of ``PassState`` on two stores, both of which it reads and
/// writes.
///
/// Every step is one commit at most, so a pass can end after any of them; a capture is many, and can end
/// between two. Used on the queue of the link's context; between steps the queue is free.
// Unchecked: values and references that are Sendable themselves.
struct SyncPass: ReplicaPass, @unchecked Sendable {
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
  private let identities = PassIdentities()

  /// What of their records the two exchange; nil for all.
  var filter: EntityFilter?

  /// Whether both stores are the files that their names lead to, and have no other names.
  ///
  /// - Throws: ``SyncError``: `fileMoved` or `duplicateReplica` for the replica, `storeUnavailable` for the local
  ///   store; what the replica throws that cannot be asked.
  private func checkFiles() throws {
    try local.checkFile()
    do {
      try replica.store.capabilities.place?.checkFilePlace()
    } catch let error as CoreDataError {
      throw SyncError(.fileMoved, error.message, recovery: .retry)
    }
    if try replica.store.capabilities.place?.isExchanged() == true {
      throw SyncError(
        .fileMoved, "\(replica.place) is another store now, or none", recovery: .retry)
    }
    if let count = replica.store.severalFileNames {
      throw SyncError(
        .duplicateReplica,
        ReplicaInspection.textOfNames(count, replica.store.url?.path ?? context.name ?? ""),
        recovery: .person)
    }
  }

  // What was read in the step before may have changed since.
  func beginStep() {
    local.headCache?.forget()
    replica.headCache?.forget()
  }

  func captureLocal() throws -> PassReport {
    PassReport(event: .captured, captured: try capture(local))
  }

  func lookForNews() throws -> PassReport {
    var report = PassReport(event: .captured, captured: try capture(replica))
    report.gaps = try HistoryGap.compare(local, replica).map(\.place)
    // A store that takes nothing from the other does not take its deletes either.
    for (store, source, isTaking) in [
      (local, replica, direction.pulls), (replica, local, direction.pushes),
    ] where isTaking {
      if let count = try comeBack(store, to: source) { report.returned[store.place] = count }
    }
    return report
  }

  private func capture(_ store: StoreAccess) throws -> Int {
    try HistoryCapture(access: store).run { _ in try checkGoingOn() }
  }

  /// Before anything is exchanged: whether both are the stores that they were.
  func identify() throws -> PassReport {
    try checkFiles()
    var report = PassReport(event: .identified)
    for (store, reader, isTaking) in [
      (local, replica, direction.pulls), (replica, local, direction.pushes),
    ] {
      let isRestored = try store.renewIfRestored(asSeenBy: reader.claim) {
        let isRead = store.store === local.store ? direction.pushes : direction.pulls
        // What it had told of when it was copied is what the reader had of it for certain.
        if isRead, !isTaking, let note = try store.readers()[reader.ledger().storeID] {
          try rememberDeletes(of: reader, stillIn: store, upTo: note.position)
        }
        // Under a new identity nothing would tell what the other had of it.
        if isTaking, let count = try comeBack(store, to: reader, isRestored: true) {
          report.returned[store.place] = count
        }
      }
      if isRestored { report.restored.append(store.place) }
    }
    if direction.pulls { try take(from: replica, to: local) }
    if direction.pushes { try take(from: local, to: replica) }
    for store in [local, replica] {
      if let ahead = try ClockRestart(access: store).runIfNeeded() {
        report.fallenBack[store.place] = ahead
      }
    }
    try identities.note(local, replica)
    return report
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
    if !isRestored {
      try reader.sendLinksAgain()
      if !reader.isRead { try KeptRecords(access: store, source: source).sendAgain() }
    }
    return count
  }

  /// What has arrived in either store through this link and is not visible there; notes what of it is not going to be.
  ///
  /// Looks at the files once more: what was exchanged after the pass began has not been served, and the
  /// link must not be called in step; nor must one of which a store has begun a new life meanwhile.
  ///
  /// - Throws: ``SyncError`` with `fileMoved` for such a store.
  func settle() throws -> HeldRecords {
    try checkFiles()
    beginStep()
    var result = HeldRecords()
    if direction.pushes {
      try ForgottenTargets(access: replica, source: local).note(filter: filter)
      result = result + (try replica.held(awaiting: awaited(in: replica)))
    }
    if direction.pulls {
      try ForgottenTargets(access: local, source: replica).note(filter: filter(in: replica))
      let ledger = try replica.ledger()
      let sources = Set(try ledger.formerIDs() + [ledger.storeID])
      result = result + (try local.held(from: sources, awaiting: awaited(in: local)))
    }
    try identities.check(local, replica)
    return result
  }

  /// What the link waits for in one of the two stores, of what comes from the other.
  func awaited(in access: StoreAccess) throws -> AwaitedReferences {
    let source = access.store === local.store ? replica : local
    return AwaitedReferences(
      filter: filter(in: access),
      hasArrived: try ForgottenTargets(access: access, source: source).haveArrived())
  }

  func countLeftOut(_ leftOut: inout LeftOut) throws -> Int {
    beginStep()
    let (source, destination) = direction == .pull ? (local, replica) : (replica, local)
    try leftOut.update(
      from: source, missingIn: destination, filter: filter(in: source), afterPage: checkGoingOn)
    return leftOut.count
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
    return try side(of: access).importing(asking: reading, work)
  }

  /// One of the two stores as an end of an exchange.
  private func side(of access: StoreAccess) -> StoreSide {
    let isLocal = access.store === local.store
    return StoreSide(
      access: access, context: isLocal ? context : replicaContext ?? context,
      hasOwnQueue: !isLocal && replicaContext != nil,
      readerName: isLocal ? context.name ?? "" : local.configuration.name,
      batchSize: batchSize(), ahead: ahead)
  }

  func retryHeld(_ side: PassState.Side) throws -> PassReport {
    let (access, other) = side == .pull ? (local, replica) : (replica, local)
    return try HeldRetry(side: self.side(of: access), source: other.ledger().storeID).run()
  }

  func exchange(_ side: PassState.Side) throws -> PassReport {
    let (source, destination) = side == .pull ? (replica, local) : (local, replica)
    // A first read misses nothing that the source forgets from here on, but what it has forgotten since the pass began:
    // a store that has been served before may still have the record.
    let isFirst = try destination.ledger().cursor(for: source.ledger().storeID) == SyncCursor()
    let returned = try isFirst ? comeBack(destination, to: source) : nil
    var report = try Exchange(
      source: self.side(of: source), destination: self.side(of: destination),
      wanted: { try wanted($0, from: source, to: destination) },
      comeBack: {
        try comeBack(destination, to: source).map { [destination.place: $0] } ?? [:]
      },
      checkSource: { _ in try source.checkHasNotGoneBack(asSeenBy: destination.claim) },
      checkDeletions: { _, cursor in
        try deletions?.check(
          from: source, to: destination, isLocal: destination.store === local.store, after: cursor,
          filter: filter(in: destination))
      }, fullSet: (batchSize() ?? source.configuration.batchSize) / 2
    ).move()
    if let returned { report.returned[destination.place, default: 0] += returned }
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
  ) throws -> ChangeSet {
    let cascade = filter.map {
      FilteredCascade(filter: $0, schema: local.schema, source: source, policy: local.policy)
    }
    var set = set
    if let filter, let cascade, source.store === local.store {
      set = filter.changes(try cascade.complete(set))
    }
    if source.schema !== destination.schema {
      set = SchemaTranslation(from: source.schema.names, to: destination.schema).changes(set)
    }
    if let filter, let cascade, destination.store === local.store {
      set = filter.changes(try cascade.complete(set))
    }
    return set
  }
}

extension StoreAccess {
  /// Whether the local store is the file that its name leads to, and has no other names.
  ///
  /// - Throws: ``SyncError``: `storeUnavailable`.
  func checkFile() throws {
    do {
      try store.capabilities.place?.checkFilePlace()
    } catch let error as CoreDataError {
      throw SyncError(.storeUnavailable, error.message, recovery: .wait, path: store.url?.path)
    }
    if let count = store.severalFileNames, let path = store.url?.path {
      throw SyncError(
        .storeUnavailable, ReplicaInspection.textOfNames(count, path), recovery: .wait, path: path)
    }
  }

  /// Where the store is, for people.
  var place: String { store.url?.storePlace ?? store.identifier ?? "" }
}

/// Who the two stores of a pass were when it began.
private final class PassIdentities: Sendable {
  private let ids = Mutex<[StoreID]>([])

  func note(_ stores: StoreAccess...) throws {
    let found = try stores.map { try $0.ledger().storeID }
    ids.withLock { $0 = found }
  }

  /// What another program dropped of a store, or brought back from a backup, is not there although it was exchanged.
  func check(_ stores: StoreAccess...) throws {
    for (store, id) in zip(stores, ids.withLock(\.self)) where try store.ledger().storeID != id {
      throw SyncError(
        .fileMoved, "\(store.place) is not what it was when the pass began; looking again",
        recovery: .retry)
    }
  }
}
