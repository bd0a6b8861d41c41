import CairnModel
import CairnStore
import Foundation

/// One store of a group with everything a step of sync needs to work on it.
struct StoreAccess: Sendable {
  let store: PersistentStore
  let schema: SyncSchema
  let environment: SyncEnvironment
  let configuration: SyncConfiguration

  /// The bookkeeping as of now, in the names of the model.
  func ledger() throws -> Ledger {
    let ledger = try rawLedger()
    if ledger.head.names == schema.namesDigest { return ledger }
    try SchemaUpgrade(access: self).run()
    return try rawLedger()
  }

  /// The bookkeeping in the names in which it was left.
  func rawLedger() throws -> Ledger {
    try Ledger(store: store, schema: schema, random: environment.random)
  }

  func history() throws -> any HistoryKeeping {
    guard let history = store as? any HistoryKeeping else {
      throw SyncError(
        .unsupportedStore,
        "a store of type \(store.type) keeps no history, so it cannot be synchronised",
        recovery: .person)
    }
    return history
  }

  /// Transactions of others than sync that are not captured yet, oldest first, and whether these are
  /// all of them.
  ///
  /// - Parameter limit: How many transactions to look at, those of sync included; 0 means all.
  func uncaptured(
    after captured: Int64, limit: Int, includesChanges: Bool
  ) throws -> (transactions: [HistoryTransactionRecord], isAll: Bool) {
    let history = try history()
    guard try history.lastTransactionNumber() > captured else { return ([], true) }
    let start = captured == 0 ? nil : captured
    var request = HistoryReadRequest(after: start, limit: limit)
    request.includesChanges = false
    let found = try history.readHistory(request)
    let own = try ownTransactions(after: captured)
    let isAll = limit == 0 || found.count < limit
    guard includesChanges else { return (found.filter { !own.contains($0.number) }, isAll) }
    // While sync fills a store, each of its own transactions has a thousand changes: only those of
    // others are read.
    var transactions: [HistoryTransactionRecord] = []
    var before = start
    var rest = found[...]
    while let first = rest.first {
      if own.contains(first.number) {
        before = first.number
        rest = rest.dropFirst()
        continue
      }
      let run = rest.prefix { !own.contains($0.number) }
      let numbers = Set(run.map(\.number))
      transactions += try history.readHistory(HistoryReadRequest(after: before, limit: run.count))
        .filter { numbers.contains($0.number) }
      rest = rest[run.endIndex...]
    }
    return (transactions, isAll)
  }

  /// The transactions that sync wrote and nobody has captured yet.
  ///
  /// Told by what sync's commits keep, never by a name that a program can choose. To be read after
  /// the transactions: what is among them was committed with its mark.
  func ownTransactions(after captured: Int64) throws -> Set<Int64> {
    guard let sidecar = store as? any SidecarKeeping else { return [] }
    let marks = try sidecar.sidecarEntries(
      of: SyncMap.own.rawValue, from: SyncKey.own(captured + 1).key, to: nil, limit: 0)
    return Set(
      try marks.map { mark in
        var reader = ByteReader(mark.key)
        return Int64(bitPattern: try reader.fixed())
      })
  }

  /// The latest time that this daemon believes a writer.
  var latestCredibleTime: UInt64 { environment.now() &+ configuration.allowedClockSkew }

  /// How often a step is planned again when somebody else commits in between.
  static let attempts = 12

  static func contention(_ store: PersistentStore) -> SyncError {
    SyncError(
      .contention,
      "other writers kept changing \(store.url?.path ?? store.identifier ?? "the store") during "
        + "\(attempts) attempts; trying again later", recovery: .retry)
  }

  /// Commits what the ledger holds and nothing else.
  ///
  /// - Returns: False when somebody else committed since the ledger was made.
  func commit(_ ledger: Ledger) throws -> Bool {
    if ledger.isUnchanged { return true }
    var request = SaveChangesRequest()
    request.sidecar = ledger.operations()
    request.author = SyncConfiguration.author
    request.date = Date(timeIntervalSince1970: Double(environment.now()) / 1000)
    switch try store.save(request) {
    case .saved: return true
    case .sidecarChanged, .conflicts, .constraintViolations: return false
    }
  }
}
