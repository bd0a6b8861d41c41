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
    for key in parameters.sort ?? [] {
      _ = try RecordColumn(
        path: key.hasPrefix("-") ? String(key.dropFirst()) : key, entity: entity)
    }
    guard (parameters.limit ?? 0) >= 0, (parameters.offset ?? 0) >= 0 else {
      throw ControlError.invalidParameter(parameters.limit ?? 0 < 0 ? "limit" : "offset")
    }
    if let after = parameters.after,
      after < 0 || parameters.sort?.isEmpty == false || (parameters.offset ?? 0) > 0
    {
      throw ControlError.invalidParameter("after")
    }
    // With a place to go on from, the rows behind it are counted.
    request.fetchLimit = parameters.after == nil ? parameters.limit ?? 0 : 0
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
  /// - Parameters:
  ///   - limit: How long finding the rows may take; nil for as long as it takes.
  ///   - pageSize: How many rows are found at once, as they are read, so that no more of them are held: only for a
  ///     context in which nothing changes meanwhile. Nil for all of them.
  /// - Returns: a cursor over the batches of the result.
  /// - Throws: a ``ControlError``, `LimitExceeded` when the time is over.
  public func start(
    in context: ManagedObjectContext, stores: [PersistentStore]?, within limit: Duration? = nil,
    pageSize: Int? = nil
  ) throws -> RecordCursor {
    try context.performAndWait {
      request.affectedStores = stores
      let isSQLite = (stores ?? context.persistentStoreCoordinator?.persistentStores ?? [])
        .allSatisfy { $0.type == StoreTypeName.sqlite }
      // Rows come by their numbers, as tables have them, where the fetch asks for no other order.
      let isNumbered = isSQLite && parameters.sort?.isEmpty ?? true
      // Other stores promise no order in which one page follows another.
      let size = isSQLite ? pageSize : nil
      if isNumbered {
        request.sortDescriptors = [ObjectSortDescriptor(key: nil, ascending: true)]
      } else if parameters.after != nil {
        throw ControlError.invalidParameter("after")
      }
      if let size { request.fetchLimit = size }
      do {
        let found = remaining(of: try find(in: context, within: limit))
        return RecordCursor(
          fetch: self, context: context, found: found, isNumbered: isNumbered, pageSize: size)
      } catch let error as PredicateEvaluationError {
        throw ControlError.invalidPredicate(
          text: parameters.predicate ?? "", position: 0, reason: error.reason)
      } catch let error as CoreDataError {
        // The model lacks a key path, or a value is none that the operator takes.
        if error.code == .coreData
          || error.underlyingError is PredicateEvaluationError
        {
          throw ControlError.invalidPredicate(
            text: parameters.predicate ?? "", position: 0, reason: error.message)
        }
        throw ControlError(error, store: stores == nil ? "" : parameters.store ?? "local") ?? error
      }
    }
  }

  private func find(
    in context: ManagedObjectContext, within limit: Duration?
  ) throws -> [ManagedObjectID] {
    try ReadLimit.holding(limit) {
      do {
        return try context.fetch(request)
      } catch {
        guard let limit, ReadLimit.isOver else { throw error }
        let seconds = limit.components.seconds
        throw ControlError.limitExceeded(
          limit: Int(seconds), reason: "finding the rows was ended after \(seconds) s")
      }
    }
  }

  /// What is behind the place to go on from.
  private func remaining(of found: [ManagedObjectID]) -> [ManagedObjectID] {
    guard let after = parameters.after else { return found }
    let behind = found.filter { ($0.rowKey ?? 0) > Int64(after) }
    return Array(behind.prefix(parameters.limit.flatMap { $0 > 0 ? $0 : nil } ?? .max))
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
