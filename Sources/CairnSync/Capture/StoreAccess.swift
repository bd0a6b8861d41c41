import CairnModel
import CairnStore
import Foundation

/// One store of a group with everything a step of sync needs to work on it.
struct StoreAccess: Sendable {
  let store: PersistentStore
  let schema: SyncSchema
  let environment: SyncEnvironment
  let configuration: SyncConfiguration

  func ledger() throws -> Ledger { try Ledger(store: store, schema: schema) }

  func history() throws -> any HistoryKeeping {
    guard let history = store as? any HistoryKeeping else {
      throw SyncError(
        .unsupportedStore,
        "a store of type \(store.type) keeps no history, so it cannot be synchronised",
        recovery: .person)
    }
    return history
  }

  /// Transactions that are not captured yet, oldest first.
  func uncaptured(
    after captured: Int64, limit: Int, includesChanges: Bool
  ) throws -> [HistoryTransactionRecord] {
    let history = try history()
    guard try history.lastTransactionNumber() > captured else { return [] }
    var request = HistoryReadRequest(after: captured == 0 ? nil : captured, limit: limit)
    request.includesChanges = includesChanges
    return try history.readHistory(request)
  }

  /// The latest time that this daemon believes a writer.
  var latestCredibleTime: UInt64 { environment.now() &+ configuration.allowedClockSkew }

  func newRecordID(milliseconds: UInt64) -> RecordID {
    RecordID(milliseconds: milliseconds, random: (environment.random(), environment.random()))
  }

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
