import CairnModel
import CairnStore
import Foundation

/// One store of a group with everything a step of sync needs to work on it.
struct StoreAccess: Sendable {
  let store: PersistentStore
  let schema: SyncSchema
  let environment: SyncEnvironment
  let configuration: SyncConfiguration
  /// What the running step has read; nil outside of passes.
  var headCache: HeadCache?
  /// Where each commit notes when changes arrived in the store; nil for replicas, since the status tells what they lack of
  /// the local store alone.
  var arrivals: ChangeArrivals?

  /// The bookkeeping in the names of the model, as of now or of earlier in the same step.
  func ledger() throws -> Ledger {
    let ledger = try rawLedger()
    if ledger.head.names == schema.namesDigest, ledger.dropped == nil { return ledger }
    try SchemaUpgrade(access: self).run()
    headCache?.forget()
    return try rawLedger()
  }

  /// The bookkeeping as of now, for what has to notice that others have committed.
  func freshLedger() throws -> Ledger {
    headCache?.forget()
    return try ledger()
  }

  /// The bookkeeping in the names in which it was left.
  func rawLedger() throws -> Ledger {
    try Ledger(store: store, schema: schema, cache: headCache, random: environment.random)
  }

  /// Who wins between deletes and writes of an entity, as this daemon is configured.
  func policy(of entity: String) -> DeleteConflictPolicy {
    schema.entities[entity]?.policy ?? configuration.deleteConflicts
  }

  /// The same, with a cache for the steps of one pass.
  func cachingHead() -> StoreAccess {
    var access = self
    access.headCache = HeadCache()
    return access
  }

  func history() throws -> any HistoryKeeping {
    guard let history = store.capabilities.history else {
      throw SyncError(
        .unsupportedStore,
        "a store of type \(store.type) keeps no history, so it cannot be synchronised",
        recovery: .person)
    }
    return history
  }

  /// The transactions that are not captured yet, oldest first.
  ///
  /// A program may have purged some of them: ``Uncaptured/isLost`` says so then, and the next capture begins a gap.
  ///
  /// - Parameter limit: How many transactions to look at, those of sync included; 0 means all.
  func uncaptured(
    after captured: Int64, limit: Int, includesChanges: Bool
  ) throws -> Uncaptured {
    let history = try history()
    let last = try history.lastTransactionNumber()
    guard last > captured else { return Uncaptured() }
    // Sync's marks alone tell that with fewer reads, also of transactions that a program has purged.
    let marked = try ownTransactions(after: captured)
    if marked.hasAll(after: captured, upTo: last) { return Uncaptured(own: marked, last: last) }
    let start = captured == 0 ? nil : captured
    do {
      let found = try history.transactions(after: start, upTo: last, limit: limit)
      let own = try ownTransactions(after: captured)
      // While sync fills a store, each of its own transactions has a thousand changes: only those of
      // others are read.
      let foreign =
        includesChanges
        ? try changes(of: found, except: own, after: start)
        : found.filter { !own.contains($0.number) }
      return Uncaptured(
        transactions: foreign, isAll: limit == 0 || found.count < limit, own: own,
        last: found.last?.number)
    } catch let error as CoreDataError where error.code == .persistentHistoryTokenExpired {
      return Uncaptured(isAll: false, isLost: true)
    }
  }

  /// What history has after what was captured.
  struct Uncaptured {
    /// Those of others than sync.
    var transactions: [HistoryTransactionRecord] = []
    /// Whether these are all of them.
    var isAll = true
    /// Whether a program has purged some, so that nothing tells what they changed.
    var isLost = false
    /// Those of sync.
    var own: Set<Int64> = []
    /// The number of the last transaction that was looked at; nil without any.
    var last: Int64?
  }

  /// Transactions with their changes, without those that sync wrote: what it changed is not even read.
  ///
  /// - Parameter after: What precedes the first of them.
  func changes(
    of transactions: [HistoryTransactionRecord], except own: Set<Int64>, after: Int64?
  ) throws -> [HistoryTransactionRecord] {
    let history = try history()
    var result: [HistoryTransactionRecord] = []
    var start = after
    var rest = transactions[...]
    while let first = rest.first {
      if own.contains(first.number) {
        start = first.number
        rest = rest.dropFirst()
        continue
      }
      let run = rest.prefix { !own.contains($0.number) }
      let numbers = Set(run.map(\.number))
      result += try history.readHistory(HistoryReadRequest(after: start, limit: run.count))
        .filter { numbers.contains($0.number) }
      rest = rest[run.endIndex...]
    }
    return result
  }

  /// The transactions that sync wrote and no capture has reached yet.
  ///
  /// Told by what sync's commits keep, never by a name that a program can choose. To be read after
  /// the transactions: what is among them was committed with its mark.
  func ownTransactions(after captured: Int64) throws -> Set<Int64> {
    guard let sidecar = store.capabilities.sidecar else { return [] }
    let marks = try sidecar.sidecarEntries(
      of: SyncMap.own.rawValue, from: SyncKey.own(captured + 1).key, to: nil, limit: 0)
    return Set(
      try marks.map { mark in
        var reader = ByteReader(mark.key)
        return Int64(bitPattern: try reader.fixed())
      })
  }

  /// How large the rows of objects are, about; 0 where the store does not tell.
  func sizes(of objects: [ManagedObjectID]) throws -> [Int] {
    guard let store = store.capabilities.rows else {
      return [Int](repeating: 0, count: objects.count)
    }
    return try store.rowSizes(of: objects)
  }

  /// The same of all objects together.
  func totalSize(of objects: [ManagedObjectID]) throws -> Int {
    try store.capabilities.rows?.totalRowSize(of: objects) ?? 0
  }

  /// The latest time that this daemon believes a writer.
  var latestCredibleTime: UInt64 { environment.now() &+ configuration.allowedClockSkew }

  /// How often a step is planned again when another writer commits in between.
  static let attempts = 12

  static func contention(_ store: PersistentStore) -> SyncError {
    SyncError(
      .contention,
      "other writers kept changing \(store.url?.storePlace ?? store.identifier ?? "the store") during "
        + "\(attempts) attempts; trying again later", recovery: .retry)
  }

  /// Keeps a value of the bookkeeping on which no other depends; nil takes it away.
  ///
  /// - Throws: `contention`, and what the store throws.
  func keep(_ value: Data?, at key: SidecarKey) throws {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      if try ledger.value(key) == value { return }
      ledger.put(key, value)
      if try commit(ledger, isRebased: true) { return }
    }
    throw Self.contention(store)
  }

  /// Commits what the ledger holds and nothing else.
  ///
  /// - Parameter isRebased: Whether what others have committed since the ledger was made does not matter
  ///   unless the ledger has read it; not for what depends on the head, or was read past the ledger.
  /// - Returns: False when it has to be planned anew.
  func commit(_ ledger: Ledger, isRebased: Bool = false) throws -> Bool {
    if ledger.isUnchanged { return true }
    defer { headCache?.forget() }
    func save(_ operations: [SidecarOperation]) throws -> Bool {
      var request = SaveChangesRequest()
      request.sidecar = operations
      request.author = SyncConfiguration.author
      request.date = Date(timeIntervalSince1970: Double(environment.now()) / 1000)
      switch try store.save(request) {
      case .saved: return true
      case .sidecarChanged, .conflicts, .constraintViolations, .rowKeysTaken: return false
      }
    }
    return isRebased ? try commit(ledger, by: save) : try attempt(ledger, save)
  }

  /// Commits a ledger by a save of the caller's, behind what others have committed meanwhile.
  ///
  /// - Parameter save: Saves with these operations; returns false when a requirement among them did not
  ///   hold, and may be called again then.
  /// - Returns: False when it has to be planned anew.
  func commit(_ ledger: Ledger, by save: ([SidecarOperation]) throws -> Bool) throws -> Bool {
    defer { headCache?.forget() }
    if try attempt(ledger, save) { return true }
    // No other writer gets in between the look at what has changed and the save, so that this does not go on
    // for as long as others write.
    return try holdingWrites {
      for _ in 0..<Self.attempts {
        guard try ledger.rebase() else { return false }
        if try attempt(ledger, save) { return true }
      }
      return false
    }
  }

  private func attempt(
    _ ledger: Ledger, _ save: ([SidecarOperation]) throws -> Bool
  ) throws -> Bool {
    guard try save(ledger.operations()) else { return false }
    if let arrivals, let numbers = ledger.newNumbers {
      arrivals.note(numbers, at: min(ledger.oldestWrite ?? .max, environment.now()))
    }
    return true
  }

  /// Runs work while the store holds other writers up, where it can.
  func holdingWrites<Result>(_ work: () throws -> Result) throws -> Result {
    guard let store = store.capabilities.exclusiveWrites else { return try work() }
    return try store.holdingWrites(work)
  }
}
