import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The condition, order and window of a history request's fetch request.
struct HistorySelection {
  /// What the fetch request is about.
  enum Subject {
    case transactions
    case changes
  }
  let subject: Subject
  private let predicate: ObjectPredicate?
  private let sortDescriptors: [ObjectSortDescriptor]
  private let offset: Int
  private let limit: Int

  /// - Throws: 134060 for an entity that is none of history's.
  init(_ request: AnyFetchRequest) throws {
    switch request.entityName {
    case PersistentHistoryEntities.transaction.name: subject = .transactions
    case PersistentHistoryEntities.change.name: subject = .changes
    default:
      throw CoreDataError(
        .coreData,
        "A history request cannot fetch \"\(request.entityName ?? "?")\". Take the entity of "
          + "PersistentHistoryTransaction or PersistentHistoryChange.")
    }
    predicate = request.predicate
    sortDescriptors = request.sortDescriptors ?? []
    offset = max(0, request.fetchOffset)
    limit = max(0, request.fetchLimit)
  }

  /// Whether so many matches are enough.
  func isEnough(_ count: Int) -> Bool {
    limit > 0 && sortDescriptors.isEmpty && count >= offset + limit
  }

  /// The transaction as far as it matches; nil when it does not.
  ///
  /// - Throws: 134070 when the predicate cannot be evaluated.
  func match(_ transaction: PersistentHistoryTransaction) throws -> PersistentHistoryTransaction? {
    switch subject {
    case .transactions: return try test(transaction) ? transaction : nil
    case .changes:
      let changes = try (transaction.changes ?? []).filter(test)
      return changes.isEmpty ? nil : PersistentHistoryTransaction(transaction, changes: changes)
    }
  }

  private func test(_ object: any KeyValueReading) throws -> Bool {
    do {
      return try predicate?.test(object) ?? true
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The history request cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  /// Puts matches in order and cuts the window out.
  func window<Item>(_ items: [Item]) throws -> [Item] {
    let sorted =
      sortDescriptors.isEmpty
      ? items : try items.sorted { try sortDescriptors.areInIncreasingOrder($0, $1) }
    let rest = sorted.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }
}
