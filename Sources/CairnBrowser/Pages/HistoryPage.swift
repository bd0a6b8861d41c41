// What was changed, when, and by which program.

import Cairn
import CairnControl
import CairnCoordinator
import Foundation

/// The transactions of a store, the newest first.
struct HistoryPage: Sendable {
  struct Transaction: Sendable {
    let number: String
    /// When, by which author, context and program.
    let origin: String
    let changes: [RecordChange]
    /// What is left out, in words.
    let remainder: String?
  }

  /// Transactions a page, and the changes of one that are shown.
  static let length = 50
  static let changeLimit = 20

  let transactions: [Transaction]
  let isEmpty: Bool
  /// The address of the transactions before these.
  let older: String?
  let newest: String?

  init(_ browsed: BrowsedStore, before number: Int64?) async throws {
    let found = try await browsed.read { context in
      try Self.transactions(before: number, in: context, browsed.addresses)
    }
    transactions = found.transactions
    isEmpty = transactions.isEmpty
    older =
      found.hasOlder
      ? transactions.last.map {
        browsed.addresses.path("/history?before=\($0.number)")
      } : nil
    newest = number == nil ? nil : browsed.addresses.path("/history")
  }

  /// Reads a window of the history: numbers rise by one, and those of purged transactions are missing.
  private static func transactions(
    before number: Int64?, in context: ManagedObjectContext, _ addresses: PageAddress
  ) throws -> (transactions: [Transaction], hasOlder: Bool) {
    guard let coordinator = context.persistentStoreCoordinator,
      let store = coordinator.persistentStores.first, let identifier = store.identifier,
      let last = coordinator.currentPersistentHistoryToken(fromStores: [store])?.number(for: store)
    else { return ([], false) }
    // Both numbers can be anything: one comes with the address, the other out of the file.
    let end = max(1, min(number ?? .max, last &+ 1))
    let start = max(0, end - 1 - Int64(length))
    let request = PersistentHistoryChangeRequest.fetchHistory(
      after: start == 0 ? nil : PersistentHistoryToken(numbers: [identifier: start]))
    request.rowLimit = length
    var found: [PersistentHistoryTransaction]
    var isWhole = start == 0
    do {
      found = try context.history(request)
    } catch let error as CoreDataError where error.code == .persistentHistoryTokenExpired {
      let whole = PersistentHistoryChangeRequest.fetchHistory(
        after: nil as PersistentHistoryToken?)
      whole.rowLimit = length
      found = try context.history(whole)
      isWhole = true
    }
    found.removeAll { $0.transactionNumber >= end }
    return (found.reversed().map { transaction($0, addresses) }, !isWhole && !found.isEmpty)
  }

  private static func transaction(
    _ transaction: PersistentHistoryTransaction, _ addresses: PageAddress
  ) -> Transaction {
    let changes = transaction.changes ?? []
    let origin = [
      Readable.moment(WireDate(transaction.timestamp)), transaction.author.map { "by \($0)" },
      transaction.contextName.map { "context \($0)" }, transaction.bundleID,
    ].compactMap { $0 }.filter { !$0.isEmpty }
    return Transaction(
      number: "\(transaction.transactionNumber)", origin: origin.joined(separator: " · "),
      changes: changes.prefix(changeLimit).map {
        RecordChange($0, in: transaction, addresses)
      },
      remainder: changes.count > changeLimit
        ? "The first \(changeLimit) of \(changes.count) changes are shown." : nil)
  }
}

/// The changes of one record, the newest first.
struct ChangesPage: Sendable {
  /// Changes that are shown.
  static let limit = 200

  let title: String
  let record: String
  let changes: [RecordChange]
  let isEmpty: Bool
  let remainder: String?

  /// Reads the whole history.
  init(_ browsed: BrowsedStore, entity name: String, key: String) async throws {
    self = try await browsed.read { context in
      try ChangesPage(
        try browsed.object(entity: name, key: key, in: context), context, browsed.addresses)
    }
  }

  private init(
    _ object: ManagedObject, _ context: ManagedObjectContext, _ addresses: PageAddress
  ) throws {
    guard let fetch = PersistentHistoryChange.fetchRequest else {
      throw PageError.missing("The store keeps no history.")
    }
    fetch.predicate = ObjectPredicate(
      format: "changedObjectID == %@", argumentArray: [object.objectID])
    let all = try context.history(.fetchHistory(withFetch: fetch)).flatMap { transaction in
      (transaction.changes ?? []).map { RecordChange($0, in: transaction, addresses) }
    }
    title = RecordValues.title(of: object)
    record = addresses.record(object.objectID)
    changes = all.suffix(Self.limit).reversed()
    isEmpty = all.isEmpty
    remainder =
      all.count > Self.limit ? "The last \(Self.limit) of \(all.count) changes are shown." : nil
  }
}

/// One change of one record.
struct RecordChange: Sendable {
  let date: String
  let author: String
  let transaction: String
  /// `inserted`, `updated` or `deleted`.
  let kind: String
  let record: String
  /// The record's page; nil when this change deleted it.
  let target: String?
  let properties: String?

  init(
    _ change: PersistentHistoryChange, in transaction: PersistentHistoryTransaction,
    _ addresses: PageAddress
  ) {
    let id = change.changedObjectID
    date = Readable.moment(WireDate(transaction.timestamp))
    author = transaction.author ?? ""
    self.transaction = "\(transaction.transactionNumber)"
    switch change.changeType {
    case .insert: kind = "inserted"
    case .update: kind = "updated"
    case .delete: kind = "deleted"
    }
    record = "\(id.entity.name ?? "") \(PageAddress.key(of: id))"
    target = change.changeType == .delete ? nil : addresses.record(id)
    let names = (change.updatedProperties ?? []).map(\.name).sorted()
    properties = names.isEmpty ? nil : names.joined(separator: ", ")
  }
}

extension ManagedObjectContext {
  fileprivate func history(
    _ request: PersistentHistoryChangeRequest
  ) throws -> [PersistentHistoryTransaction] {
    request.resultType = .transactionsAndChanges
    let result = try execute(request) as? PersistentHistoryResult
    return result?.result as? [PersistentHistoryTransaction] ?? []
  }
}
