import CairnStore
import Foundation

/// How transactions that write rows end: numbered where history records them, and told to those who listen.
struct RowCommit {
  let schema: SchemaName
  /// The state of the store that the transaction counts on.
  let state: StoreState
  /// What the store object says to those who listen for commits.
  let announcing: String
  let times: CommitTimes
  let reconnect: () throws -> PostgreSQLConnection

  var recording: RowTransaction { RowTransaction(schema: schema, state: state) }

  /// Commits.
  ///
  /// - Parameters:
  ///   - identifier: The transaction's ID, where it is known.
  ///   - key: That of the changes; nil where there are none for history.
  ///   - request: What history tells of the commit.
  ///   - first: Statements before the number is drawn.
  ///   - more: Statements after the number was drawn.
  ///   - others: Statements where none is drawn.
  ///   - plansAnew: Whether the tables have grown so much that plans which the session made before are of no use.
  /// - Returns: The number.
  @discardableResult
  func commit(
    _ transaction: consuming PostgreSQLTransaction, knownAs identifier: Int64? = nil,
    under key: Int64?, of request: (author: String?, contextName: String?, date: Date),
    behind first: [Statement] = [], after more: [Statement] = [],
    otherwise others: [Statement] = [], plansAnew: Bool = false, isAnnounced: Bool = true
  ) throws -> Int64? {
    let announcement =
      state.announces && isAnnounced ? [CommitListening.announcement(in: schema, announcing)] : []
    let numbering =
      key == nil ? others : PostgreSQLHistoryTables.numbering(of: request, in: schema) + more
    let planning = plansAnew ? [Statement("DISCARD PLANS", isKept: false)] : []
    let answers = try transaction.commit(
      knownAs: identifier, after: first + numbering + announcement + planning, timedBy: times,
      reconnect: reconnect)
    guard let key else { return nil }
    return try recording.number(answers.map { Array($0.dropFirst(first.count)) }, key, reconnect)
  }
}
