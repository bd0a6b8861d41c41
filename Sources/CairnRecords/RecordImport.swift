// Taking one batch of rows of an import.

import Cairn
import CairnControl
import Foundation

/// Runs one batch of an import: every row inserts or updates one object; all rows or none.
public struct RecordImport {
  let parameters: ImportRecords.Parameters
  let writing: RecordWriting
  let naming: any RecordNaming

  /// Checks the parameters against the model.
  public init(
    _ parameters: ImportRecords.Parameters, model: ManagedObjectModel, naming: any RecordNaming
  ) throws {
    writing = try RecordWriting(entityNamed: parameters.entity, in: model)
    try writing.checkIsInsertable()
    guard parameters.rows.count == parameters.lines.count else {
      throw ControlError.invalidParameter("lines")
    }
    for name in parameters.key ?? [] where writing.entity.storedAttribute(at: name) == nil {
      throw ControlError.unknownProperty(name, of: writing.entity)
    }
    self.parameters = parameters
    self.naming = naming
  }

  /// Applies the rows in a fresh context, whose new objects live in `store`, and saves.
  ///
  /// - Throws: ``ControlError/importFailed(line:reason:)`` with the line of the first bad row.
  public func run(
    in context: ManagedObjectContext, store: PersistentStore
  ) throws -> ImportRecords.Reply {
    try context.performAndWait {
      // The object of each row so far: asked only for who is to blame.
      var objects: [ManagedObject] = []
      objects.reserveCapacity(parameters.rows.count)
      do {
        var finder = RecordFinder(
          context: context, store: store, createsMissing: parameters.createMissing ?? true)
        try prefetch(into: &finder)
        var reply = ImportRecords.Reply(inserted: 0, updated: 0, unchanged: 0, created: 0)
        for (row, line) in zip(parameters.rows, parameters.lines) {
          do {
            let found = try target(of: row, finder: &finder)
            objects.append(found.object)
            try writing.apply(row, to: found.object) { json, relationship in
              try reference(json, relationship, finder: &finder, context: context)
            }
            if found.isNew {
              reply.inserted += 1
            } else if found.object.hasPersistentChangedValues {
              reply.updated += 1
            } else {
              reply.unchanged += 1
            }
          } catch let error as ControlError {
            throw ControlError.importFailed(line: line, reason: error.description)
          }
        }
        reply.created = finder.created
        try context.save()
        return reply
      } catch {
        let lines = Dictionary(
          zip(objects.map { ObjectIdentifier($0) }, parameters.lines), uniquingKeysWith: { $1 })
        let failure = Self.failure(error, lines: lines, store: store)
        context.rollback()
        throw failure
      }
    }
  }

  /// Looks up in few queries what the rows will ask for one by one.
  private func prefetch(into finder: inout RecordFinder) throws {
    if let key = parameters.key, !key.isEmpty {
      try finder.prefetch(writing.entity, key: key, rows: parameters.rows)
    }
    for relationship in writing.entity.relationshipsByName.values {
      guard let destination = relationship.destinationEntity else { continue }
      let references = parameters.rows.flatMap { row -> [[String: JSONValue]] in
        switch row[relationship.name] {
        case .object(let members): [members]
        case .array(let list): list.compactMap(\.objectValue)
        default: []
        }
      }
      let byKey = Dictionary(grouping: references) {
        RecordFinder.identifyingKey(of: destination, in: $0)
      }
      for (key, rows) in byKey { try finder.prefetch(destination, key: key, rows: rows) }
    }
  }

  private func target(
    of row: [String: JSONValue], finder: inout RecordFinder
  ) throws -> (object: ManagedObject, isNew: Bool) {
    guard let key = parameters.key, !key.isEmpty else {
      return (finder.insert(writing.entity), true)
    }
    for name in key where row[name] == nil || row[name] == .null {
      throw writing.invalid(name, "the key has no value")
    }
    if let object = try finder.find(writing.entity, key: key, row: row) {
      // Made earlier in this batch as the destination of a reference: it counts as inserted.
      return (object, object.isInserted && finder.claimCreated(object))
    }
    let object = finder.insert(writing.entity)
    try finder.register(object, key: key, row: row)
    return (object, true)
  }

  private func reference(
    _ json: JSONValue, _ relationship: RelationshipDescription, finder: inout RecordFinder,
    context: ManagedObjectContext
  ) throws -> ManagedObject {
    guard let destination = relationship.destinationEntity else {
      throw writing.invalid(relationship.name, "the relationship has no destination")
    }
    switch json {
    case .string(let id):
      guard let object = try naming.record(named: id, entity: destination, in: context) else {
        throw ControlError.recordNotFound(entity: destination.name ?? "", id: id)
      }
      return object
    case .object(let members):
      return try finder.findOrCreate(destination, members: members)
    case .null, .bool, .integer, .number, .array:
      throw writing.invalid(
        relationship.name,
        "a record ID or an object of attribute values is wanted, not \(json.kindName)")
    }
  }

  /// The error to answer with: it names the line where one object is to blame.
  private static func failure(
    _ error: any Error, lines: [ObjectIdentifier: Int], store: PersistentStore
  ) -> any Error {
    guard let error = error as? CoreDataError else { return error }
    let leaf = (error.userInfo["NSDetailedErrors"] as? [any Error])?.first as? CoreDataError
    if let object = (leaf ?? error).userInfo["NSValidationErrorObject"] as? ManagedObject,
      let line = lines[ObjectIdentifier(object)]
    {
      return ControlError.importFailed(line: line, reason: (leaf ?? error).message)
    }
    let conflicts = error.userInfo["conflictList"] as? [ConstraintConflict] ?? []
    let duplicates = conflicts.flatMap { conflict in
      conflict.conflictingObjects.compactMap { object in
        lines[ObjectIdentifier(object)].map { (line: $0, keys: conflict.constraint) }
      }
    }
    if let first = duplicates.min(by: { $0.line < $1.line }) {
      return ControlError.importFailed(
        line: first.line,
        reason: "another record has the same \(first.keys.joined(separator: ", ")); "
          + "name it as the key to update that record")
    }
    return ControlError(error, store: "local") ?? error
  }
}
