import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Reads the commits of a store in their order, inside one snapshot.
struct PostgreSQLHistoryReading {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: SchemaName { content.schema.name }
  private var transactions: String {
    PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.transactions, in: schema)
  }
  private var changes: String {
    PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.changes, in: schema)
  }

  // MARK: Positions

  /// The number of the newest commit, and that of the newest one that was taken out.
  func ends() throws -> (last: Int64, purged: Int64) {
    let rows = try connection.run(
      "SELECT GREATEST(purged, (SELECT max(number) FROM \(transactions))), purged "
        + "FROM \(SQLText.name(schema.text, BookkeepingTables.store))")
    return (rows.integer(0, 0) ?? 0, rows.integer(0, 1) ?? 0)
  }

  /// A position is expired when commits after it were taken out, and unknown when the store has never come that far:
  /// another store, or one that was restored from an older backup.
  func check(_ position: Int64, _ place: String) throws {
    let (last, purged) = try ends()
    guard position > last || position < purged else { return }
    throw CoreDataError(
      .persistentHistoryTokenExpired,
      "History after transaction \(position) is not there: the store in \(place) keeps those after \(purged), "
        + "up to \(last). Start again from the store's present content.")
  }

  // MARK: Records

  func read(_ request: HistoryReadRequest) throws -> [HistoryTransactionRecord] {
    var parameters = ParameterList()
    // As SQLite stores have it: without a position, all.
    parameters.append(request.after ?? -1)
    var text =
      "SELECT key, number, seconds, author, context, bundle, process FROM \(transactions) "
      + "WHERE number > $1"
    if let date = request.afterDate {
      parameters.append(double: date.timeIntervalSinceReferenceDate)
      text += " AND seconds > $\(parameters.count)"
    }
    text += " ORDER BY number"
    if request.limit > 0 {
      parameters.append(Int64(request.limit))
      text += " LIMIT $\(parameters.count)"
    }
    let rows = try connection.run(text, parameters)
    let keys = (0..<rows.count).map { rows.integer($0, 0) ?? 0 }
    let changes = request.includesChanges ? try self.changes(under: keys) : [:]
    return (0..<rows.count).map { row in
      HistoryTransactionRecord(
        number: rows.integer(row, 1) ?? 0,
        date: Date(timeIntervalSinceReferenceDate: rows.double(row, 2) ?? 0),
        author: rows.text(row, 3), contextName: rows.text(row, 4), bundleID: rows.text(row, 5),
        processID: rows.text(row, 6), changes: changes[keys[row]] ?? [])
    }
  }

  func births(of objects: Set<ManagedObjectID>) throws -> [ManagedObjectID: RowBirth] {
    var parameters = ParameterList()
    parameters.append(keys: objects.compactMap(\.rowKey))
    let rows = try connection.run(
      "SELECT c.entity, c.row_key, t.number, t.seconds FROM \(changes) c "
        + "JOIN \(transactions) t ON t.key = c.transaction_key "
        + "WHERE c.kind = 0 AND c.row_key = ANY ($1) "
        + "AND NOT \(PostgreSQLHistoryTables.isOfReplacement("c", in: schema)) ORDER BY t.number",
      parameters)
    var births: [ManagedObjectID: RowBirth] = [:]
    for row in 0..<rows.count {
      guard let entity = rows.integer(row, 0), let key = rows.integer(row, 1),
        let object = content.objectID(entity: Int(truncatingIfNeeded: entity), key: key),
        objects.contains(object)
      else { continue }
      births[object] = RowBirth(
        transaction: rows.integer(row, 2) ?? 0,
        date: Date(timeIntervalSinceReferenceDate: rows.double(row, 3) ?? 0))
    }
    return births
  }

  private func changes(under keys: [Int64]) throws -> [Int64: [HistoryChangeRecord]] {
    if keys.isEmpty { return [:] }
    var parameters = ParameterList()
    parameters.append(keys: keys)
    let rows = try connection.run(
      "SELECT transaction_key, number, kind, entity, row_key, array_to_json(properties)::text, "
        + "tombstone::text FROM \(changes) WHERE transaction_key = ANY ($1) "
        + "ORDER BY transaction_key, number", parameters)
    var found: [Int64: [HistoryChangeRecord]] = [:]
    var lists: [String: Set<String>] = [:]
    for row in 0..<rows.count {
      guard let key = rows.integer(row, 0),
        let kind = rows.integer(row, 2).flatMap({ HistoryChangeKind(rawValue: Int($0)) }),
        let number = rows.integer(row, 3).map({ Int(truncatingIfNeeded: $0) }),
        let entity = content.schema.sql.entity(number: number), let rowKey = rows.integer(row, 4),
        let object = content.objectID(entity: number, key: rowKey)
      else { continue }
      let properties = rows.text(row, 5).map { text -> Set<String> in
        if let known = lists[text] { return known }
        let names = (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? []
        lists[text] = Set(names)
        return Set(names)
      }
      found[key, default: []].append(
        HistoryChangeRecord(
          number: rows.integer(row, 1) ?? 0, kind: kind, objectID: object,
          changedProperties: kind == .update ? properties : nil,
          tombstone: kind == .delete ? tombstone(rows.text(row, 6), of: entity) : [:]))
    }
    return found.mapValues(replacing)
  }

  /// Tells of a row that a transaction has deleted and inserted again as of an update of all its properties.
  ///
  /// Loads of other programs replace rows so. It is the same object: what leads to its key leads to it as before, and no
  /// change tells of that.
  private func replacing(_ changes: [HistoryChangeRecord]) -> [HistoryChangeRecord] {
    let deleted = Set(changes.filter { $0.kind == .delete }.map(\.objectID))
    if deleted.isEmpty { return changes }
    let touched = changes.enumerated().filter { deleted.contains($0.element.objectID) }
    // Where each object's changes begin and end.
    var ends: [ManagedObjectID: (first: Int, last: Int)] = [:]
    for (place, change) in touched { ends[change.objectID, default: (place, place)].last = place }
    return changes.enumerated().compactMap { place, change in
      guard let (first, last) = ends[change.objectID], changes[first].kind != .insert,
        changes[last].kind != .delete
      else { return change }
      if place != last { return nil }
      let entity = content.schema.sql.entity(change.objectID.entity)
      return HistoryChangeRecord(
        number: change.number, kind: .update, objectID: change.objectID,
        changedProperties: Set(entity.history.names), tombstone: [:])
    }
  }

  private func tombstone(_ text: String?, of entity: SQLEntity) -> [String: AttributeValue] {
    guard let text,
      let kept = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    else { return [:] }
    var values: [String: AttributeValue] = [:]
    for slot in entity.history.tombstoneSlots {
      let name = entity.layout.slots[slot].name
      guard case .attribute(_, let type, _) = entity.slots[slot], let form = ValueForm(type),
        let value = kept[name].flatMap({ Tombstone.value($0, form) })
      else { continue }
      values[name] = value
    }
    return values
  }
}
