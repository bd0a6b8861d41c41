// Reading records.

import Cairn
import CairnControl
import Foundation

/// A fetch of the control protocol, checked against the model; its rows come in batches.
public struct RecordFetch {
  /// The most rows a reply holds, so that a message stays far below its limit.
  public static let batchSize = 100

  let parameters: FetchRecords.Parameters
  let entity: EntityDescription
  let columns: [RecordColumn]
  private let sortColumns: [RecordColumn]
  /// Finds the records; their values are read batch by batch, so that a long result needs little memory.
  let request: FetchRequest<ManagedObjectID>
  let naming: any RecordNaming

  /// Checks the parameters against the model.
  ///
  /// - Throws: a ``ControlError``: unknown entity or property, invalid predicate or value.
  public init(
    _ parameters: FetchRecords.Parameters, model: ManagedObjectModel, naming: any RecordNaming
  ) throws {
    self.parameters = parameters
    self.naming = naming
    guard let entity = model.entitiesByName[parameters.entity] else {
      throw ControlError.unknownEntity(parameters.entity, in: model)
    }
    self.entity = entity
    columns =
      try parameters.properties?.map { try RecordColumn(path: $0, entity: entity) }
      ?? RecordColumn.all(of: entity)
    request = FetchRequest<ManagedObjectID>(entityName: parameters.entity)
    request.resultType = .managedObjectIDResultType
    request.predicate = try parameters.predicate.map { try Self.predicate($0) }
    request.sortDescriptors = (parameters.sort ?? []).map { key in
      ObjectSortDescriptor(
        key: key.hasPrefix("-") ? String(key.dropFirst()) : key, ascending: !key.hasPrefix("-"))
    }
    // IDs are all that is wanted: with their values rows would be read whole, all of them at once.
    request.includesPropertyValues = false
    sortColumns = try (parameters.sort ?? []).map { key in
      try RecordColumn(path: key.hasPrefix("-") ? String(key.dropFirst()) : key, entity: entity)
    }
    guard (parameters.limit ?? 0) >= 0, (parameters.offset ?? 0) >= 0 else {
      throw ControlError.invalidParameter(parameters.limit ?? 0 < 0 ? "limit" : "offset")
    }
    if let after = parameters.after,
      after < 0 || parameters.sort?.isEmpty == false || (parameters.offset ?? 0) > 0
    {
      throw ControlError.invalidParameter("after")
    }
    request.fetchOffset = parameters.offset ?? 0
  }

  private static func predicate(_ text: String) throws -> ObjectPredicate {
    do {
      return try ObjectPredicate.parse(untrusted: text)
    } catch let error as PredicateFormatError {
      throw ControlError.invalidPredicate(
        text: text, position: error.position, reason: error.reason)
    }
  }

  /// Runs the fetch on the context's queue, in the given stores.
  ///
  /// A SQL store finds the rows page by page, as they are read, so that no more of them are held, unless it cannot
  /// sort by what is asked for. With an order of their own the pages are of one state, to which the context
  /// is pinned if there is more than one.
  ///
  /// - Parameters:
  ///   - limit: How long finding a page may take; nil for as long as it takes.
  ///   - pageSize: How many rows are found at once.
  /// - Returns: a cursor over the batches of the result.
  /// - Throws: a ``ControlError``, `LimitExceeded` when the time is over.
  public func start(
    in context: ManagedObjectContext, stores: [PersistentStore]?, within limit: Duration? = nil,
    pageSize: Int = RecordCursor.pageSize
  ) throws -> RecordCursor {
    try context.performAndWait {
      request.affectedStores = stores
      let read = stores ?? context.persistentStoreCoordinator?.persistentStores ?? []
      let isSQLite = read.allSatisfy { $0.type == StoreTypeName.sqlite }
      // Rows come by their numbers, as tables have them, where the fetch asks for no other order.
      let isNumbered = isSQLite && sortColumns.isEmpty
      let isPaged =
        isSQLite && read.count == 1 && sortColumns.count <= Self.longestOrder
        && sortColumns.allSatisfy(\.isSortedBySQL)
      if isNumbered {
        request.sortDescriptors = [ObjectSortDescriptor(key: nil, ascending: true)]
      } else if parameters.after != nil {
        throw ControlError.invalidParameter("after")
      }
      if let after = parameters.after.map(Int64.init) {
        request.place = .init(values: [.integer(after)], key: after)
      }
      let cursor = RecordCursor(
        fetch: self, context: context, isNumbered: isNumbered, pageSize: isPaged ? pageSize : nil,
        limit: limit)
      // Meanwhile values may change, and rows change places with them.
      let isPinned = isPaged && !isNumbered && context.queryGenerationToken == nil
      if isPinned { try context.setQueryGenerationFrom(.current) }
      try cursor.findFirst()
      if isPinned, !cursor.mayFindMore { try context.setQueryGenerationFrom(nil) }
      return cursor
    }
  }

  /// More sort keys than this make conditions that are too deep for SQLite's parser.
  private static let longestOrder = 8

  /// Finds a page, of the context's queue.
  ///
  /// - Throws: a ``ControlError``.
  func find(in context: ManagedObjectContext, within limit: Duration?) throws -> [ManagedObjectID] {
    do {
      return try ReadLimit.holding(limit) {
        do {
          return try context.fetch(request)
        } catch {
          guard let limit, ReadLimit.isOver else { throw error }
          let seconds = limit.components.seconds
          throw ControlError.limitExceeded(
            limit: Int(seconds), reason: "finding the rows was ended after \(seconds) s")
        }
      }
    } catch let error as PredicateEvaluationError {
      throw ControlError.invalidPredicate(
        text: parameters.predicate ?? "", position: 0, reason: error.reason)
    } catch let error as CoreDataError {
      // The model lacks a key path, or a value is none that the operator takes.
      if error.code == .coreData || error.underlyingError is PredicateEvaluationError {
        throw ControlError.invalidPredicate(
          text: parameters.predicate ?? "", position: 0, reason: error.message)
      }
      let name = request.affectedStores == nil ? "" : parameters.store ?? "local"
      throw ControlError(error, store: name) ?? error
    }
  }

  /// The place of a row in the order of the fetch; nil where the row has none any more.
  func place(of row: ManagedObjectID, in context: ManagedObjectContext) -> StoreFetchRequest.Place?
  {
    guard let key = row.rowKey else { return nil }
    if sortColumns.isEmpty { return .init(values: [.integer(key)], key: key) }
    guard let object = try? context.existingObject(with: row) else { return nil }
    return .init(values: sortColumns.map { $0.sortValue(of: object) }, key: key)
  }

  func rows(_ objects: [ManagedObject]) throws -> [[String: JSONValue]] {
    var wanted: Set<ManagedObjectID> = []
    for object in objects {
      wanted.insert(object.objectID)
      for column in columns { wanted.formUnion(column.references(of: object)) }
    }
    let ids = Array(wanted)
    let names = Dictionary(
      zip(ids, try naming.names(of: ids)), uniquingKeysWith: { first, _ in first })
    let rows = objects.map { object in
      var row: [String: JSONValue] = [
        "id": names[object.objectID].map { .string($0) } ?? .null,
        "entity": .string(object.entity.name ?? ""),
      ]
      for column in columns { row[column.name] = column.value(of: object, names: names) }
      return row
    }
    // Reading a value cannot throw: what could not be read is not without a value.
    if let error = objects.first?.managedObjectContext?.faultError { throw error }
    return rows
  }
}
