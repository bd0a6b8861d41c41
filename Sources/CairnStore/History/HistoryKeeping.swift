import CairnModel
import Foundation

/// What a change in history did.
///
/// Raw values as stored by Core Data.
public enum HistoryChangeKind: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// One changed object in a history transaction.
public struct HistoryChangeRecord: Sendable {
  public let number: Int64
  public let kind: HistoryChangeKind
  public let objectID: ManagedObjectID
  /// The names of the changed properties; nil for inserts, deletes, and when not recorded.
  public let changedProperties: Set<String>?
  /// Values kept from a deleted object, by attribute name.
  public let tombstone: [String: AttributeValue]
  public init(
    number: Int64, kind: HistoryChangeKind, objectID: ManagedObjectID,
    changedProperties: Set<String>?, tombstone: [String: AttributeValue]
  ) {
    self.number = number
    self.kind = kind
    self.objectID = objectID
    self.changedProperties = changedProperties
    self.tombstone = tombstone
  }
}

/// One commit in history.
public struct HistoryTransactionRecord: Sendable {
  public let number: Int64
  public let date: Date
  public let author: String?
  public let contextName: String?
  public let bundleID: String?
  public let processID: String?
  /// Empty when the request asked for transactions only.
  public let changes: [HistoryChangeRecord]
  public init(
    number: Int64, date: Date, author: String?, contextName: String?, bundleID: String?,
    processID: String?, changes: [HistoryChangeRecord]
  ) {
    self.number = number
    self.date = date
    self.author = author
    self.contextName = contextName
    self.bundleID = bundleID
    self.processID = processID
    self.changes = changes
  }
}

/// Which part of history to read.
public struct HistoryReadRequest: Sendable {
  /// Only transactions with a greater number.
  public var after: Int64?
  /// Only transactions after this time.
  public var afterDate: Date?
  /// At most so many transactions, oldest first; 0 means all.
  public var limit = 0
  public var includesChanges = true
  public init(after: Int64? = nil, afterDate: Date? = nil, limit: Int = 0) {
    self.after = after
    self.afterDate = afterDate
    self.limit = limit
  }
}

/// A capability of a store: it records its commits.
public protocol HistoryKeeping: AnyObject, Sendable {
  /// Transactions in ascending order.
  ///
  /// - Throws: code 134301 when `after` lies before what has been purged.
  func readHistory(_ request: HistoryReadRequest) throws -> [HistoryTransactionRecord]
  /// The number of the newest transaction, 0 when there is none. Cheap.
  func lastTransactionNumber() throws -> Int64
  /// Deletes transactions with a smaller number, or an earlier date, and returns how many.
  ///
  /// A store with a sidecar keeps the ``RowBirth`` of each row that was inserted by them, is still there, and
  /// was not taken up by sync, in the same commit.
  func purgeHistory(before number: Int64?, date: Date?) throws -> Int
  /// The number of the newest transaction that has been purged, 0 when there is none.
  ///
  /// A reader that has come that far or further has missed nothing. Numbers may be left out in between for other
  /// reasons: a store that draws them from a sequence loses one with each commit that fails.
  func lastPurgedTransactionNumber() throws -> Int64
  /// By which transactions rows were inserted, be they there still or not: of those whose inserts history has.
  ///
  /// The last insert counts, where a restored store has given a key again.
  func births(of objects: [ManagedObjectID]) throws -> [ManagedObjectID: RowBirth]
}

extension HistoryKeeping {
  /// Reads all of history.
  public func births(of objects: [ManagedObjectID]) throws -> [ManagedObjectID: RowBirth] {
    let wanted = Set(objects)
    var births: [ManagedObjectID: RowBirth] = [:]
    for transaction in try readHistory(HistoryReadRequest()) {
      for change in transaction.changes
      where change.kind == .insert && wanted.contains(change.objectID) {
        births[change.objectID] = RowBirth(
          transaction: transaction.number, date: transaction.date)
      }
    }
    return births
  }

  /// What precedes the oldest transaction, for a store that numbers them without gaps.
  public func lastPurgedTransactionNumber() throws -> Int64 {
    var request = HistoryReadRequest(limit: 1)
    request.includesChanges = false
    // In this order: what is written in between is not taken for purged.
    let last = try lastTransactionNumber()
    guard let oldest = try readHistory(request).first?.number else { return last }
    // A number comes out of a file, where it can be anything.
    return max(oldest, .min + 1) - 1
  }
}
