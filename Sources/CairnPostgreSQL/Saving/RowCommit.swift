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
  ///   - more: Statements after the number was drawn.
  ///   - others: Statements where none is drawn.
  /// - Returns: The number.
  @discardableResult
  func commit(
    _ transaction: consuming PostgreSQLTransaction, knownAs identifier: Int64? = nil,
    under key: Int64?, of request: (author: String?, contextName: String?, date: Date),
    after more: [Statement] = [], otherwise others: [Statement] = [], isAnnounced: Bool = true
  ) throws -> Int64? {
    let announcement =
      state.announces && isAnnounced ? [CommitListening.announcement(in: schema, announcing)] : []
    let numbering = key == nil ? others : HistoryTables.numbering(of: request, in: schema) + more
    let answers = try transaction.commit(
      knownAs: identifier, after: numbering + announcement, timedBy: times, reconnect: reconnect)
    guard let key else { return nil }
    return try recording.number(answers, key, reconnect)
  }
}
