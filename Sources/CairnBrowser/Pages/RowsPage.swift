// The rows of an entity.

import Cairn
import CairnControl
import CairnRecords
import Foundation

struct RowsPage: Sendable {
  /// What an address asks for.
  struct Query: Sendable {
    var condition = ""
    /// A property, with a minus before it for descending order.
    var sort: String?
    var page = 1
  }
  struct Header: Sendable {
    let name: String
    let type: String
    /// The address of the rows in the order of this column; nil where the store cannot sort.
    let sorting: String?
    /// `ascending`, `descending` or `none`.
    let order: String
    let arrow: String
    let next: String
  }
  struct Row: Sendable {
    let key: String
    let link: String
    /// The entity, where it is another than the page's.
    let subentity: String?
    let values: [PageValue]
  }
  struct Property: Sendable {
    let name: String
    let type: String
    let remark: String?
  }

  /// Rows a page.
  static let length = 50

  let entity: String
  let address: String
  let superentity: String?
  let superentityLink: String?
  let condition: String
  let isFiltered: Bool
  let sort: String?
  /// Why the condition could not be used.
  let problem: String?
  let count: String
  let span: String
  let headers: [Header]
  let rows: [Row]
  let isEmpty: Bool
  let previous: String?
  let next: String?
  let properties: [Property]

  init(_ browsed: BrowsedStore, entity name: String, query: Query) async throws {
    let columns = PageColumn.all(of: try browsed.entity(named: name))
    let sortKey = query.sort.map { $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }
    if let sortKey, !columns.contains(where: { $0.name == sortKey && $0.isSortable }) {
      throw PageError.missing("\(name) has no “\(sortKey)” to sort by.")
    }
    let found = try await browsed.read { context in
      try Self.found(name, columns, query, context, browsed.addresses)
    }
    let summary = browsed.model.entities.first { $0.name == name }
    entity = name
    let addresses = browsed.addresses
    address = addresses.entity(name)
    superentity = summary?.superentity
    superentityLink = summary?.superentity.map(addresses.entity)
    condition = query.condition
    isFiltered = !query.condition.isEmpty
    sort = query.sort
    problem = found.problem
    count = Readable.count(found.count, "row")
    rows = found.rows
    isEmpty = rows.isEmpty
    let first = (query.page - 1) * Self.length
    span = rows.isEmpty ? "" : "\(first + 1) to \(first + rows.count)"
    func page(_ number: Int) -> String {
      addresses.rows(name, condition: query.condition, sort: query.sort, page: number)
    }
    previous = query.page > 1 ? page(query.page - 1) : nil
    next = first + rows.count < found.count && !rows.isEmpty ? page(query.page + 1) : nil
    headers = columns.map { Self.header($0, name, query, addresses) }
    properties = columns.map(Self.property)
  }

  private static func found(
    _ entity: String, _ columns: [PageColumn], _ query: Query, _ context: ManagedObjectContext,
    _ addresses: PageAddress
  ) throws -> (count: Int, rows: [Row], problem: String?) {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    do {
      if !query.condition.isEmpty {
        request.predicate = try ObjectPredicate.parse(untrusted: query.condition)
      }
      let count = try context.count(for: request)
      if let sort = query.sort {
        let isDescending = sort.hasPrefix("-")
        request.sortDescriptors = [
          ObjectSortDescriptor(
            key: isDescending ? String(sort.dropFirst()) : sort, ascending: !isDescending)
        ]
      }
      request.fetchLimit = length
      request.fetchOffset = (query.page - 1) * length
      request.returnsObjectsAsFaults = false
      request.relationshipKeyPathsForPrefetching = columns.compactMap {
        if case .toOne = $0.source { $0.name } else { nil }
      }
      let rows = try context.fetch(request).map { object in
        let values = RecordValues(object: object, addresses: addresses)
        return Row(
          key: PageAddress.key(of: object.objectID), link: addresses.record(object.objectID),
          subentity: object.entity.name == entity ? nil : object.entity.name,
          values: columns.map { values.value(of: $0, limit: RecordValues.shortText) })
      }
      return (count, rows, nil)
    } catch let error as PredicateFormatError {
      return (0, [], "At character \(error.position + 1): \(error.reason)")
    } catch let error as PredicateEvaluationError {
      return (0, [], error.reason)
    } catch let error as CoreDataError
      where !query.condition.isEmpty
      && (error.code == .coreData || error.underlyingError is PredicateEvaluationError)
    {
      // The model lacks a key path, or a value is none that the operator takes.
      return (0, [], error.message)
    }
  }

  private static func header(
    _ column: PageColumn, _ entity: String, _ query: Query, _ addresses: PageAddress
  ) -> Header {
    let isAscending = query.sort == column.name
    let isDescending = query.sort == "-\(column.name)"
    return Header(
      name: column.name, type: column.isToMany ? "\(column.type), many" : column.type,
      sorting: column.isSortable
        ? addresses.rows(
          entity, condition: query.condition, sort: isAscending ? "-\(column.name)" : column.name,
          page: 1) : nil,
      order: isAscending ? "ascending" : isDescending ? "descending" : "none",
      arrow: isAscending ? "▲" : isDescending ? "▼" : "",
      next: isAscending ? "descending" : "ascending")
  }

  private static func property(_ column: PageColumn) -> Property {
    var notes: [String] = []
    if column.isToMany { notes.append(column.isOrdered ? "many, ordered" : "many") }
    if !column.isOptional { notes.append("required") }
    return Property(
      name: column.name, type: column.type,
      remark: notes.isEmpty ? nil : notes.joined(separator: ", "))
  }
}
