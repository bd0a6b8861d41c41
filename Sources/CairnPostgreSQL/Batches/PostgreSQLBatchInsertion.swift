import CairnModel
import CairnSQL
import CairnStore

/// Inserts rows given by property name, and deals with those whose unique values are taken.
///
/// The server says for many rows at once which of them have equal unique values, and which stored rows have them. Where
/// another program claims one meanwhile, those rows alone are done anew: the rows to insert are handed over only once.
struct PostgreSQLBatchInsertion {
  let writer: BatchWriter
  let entity: SQLEntity
  let duplicates: BatchDuplicateRule
  /// Those whose values a row has before it is written.
  private let constraints: [SQLConstraint]

  init(writer: BatchWriter, entity: SQLEntity, duplicates: BatchDuplicateRule) {
    self.writer = writer
    self.entity = entity
    self.duplicates = duplicates
    constraints = entity.constraints.filter { constraint in
      !constraint.slots.contains { entity.derivedSlots.contains($0) }
    }
  }

  private struct NewRow {
    let row: RowSnapshot
    let given: BatchRowSource.Row
  }

  /// So many rows are looked at together, and so often.
  private static let portion = 1000
  private static let attempts = 5
  private static let savepoint = "cairn_portion"

  func insert(_ source: BatchRowSource) throws -> BatchOutcome {
    try SQLBatch.checkIsConcrete(entity)
    var outcome = BatchOutcome()
    var overwritten: Set<ManagedObjectID> = []
    while let dictionaries = try source.next() {
      let entities = [EntityDescription](repeating: entity.entity, count: dictionaries.count)
      let ids = try SequenceReservation(content: writer.content, connection: writer.connection)
        .objectIDs(for: entities)
      let rows = try zip(ids, dictionaries).map { id, dictionary in
        NewRow(row: try entity.newRow(id, dictionary), given: dictionary)
      }
      try insert(rows, &outcome, &overwritten)
    }
    if overwritten.isEmpty { return outcome }
    // A row that came and was overwritten in the same batch is a new one.
    let new = Set(outcome.inserted)
    outcome.updated.removeAll(where: new.contains)
    return outcome
  }

  private func insert(
    _ rows: [NewRow], _ outcome: inout BatchOutcome, _ overwritten: inout Set<ManagedObjectID>
  ) throws {
    var rest = rows[...]
    var size = Self.portion
    while !rest.isEmpty {
      let round = try settle(Array(rest.prefix(size)))
      outcome.inserted += round.request.insertions.map(\.snapshot.objectID)
      for update in round.request.updates
      where overwritten.insert(update.snapshot.objectID).inserted {
        outcome.updated.append(update.snapshot.objectID)
      }
      // Where rows of one batch take each other's place, long looks ahead are in vain.
      size = round.taken < min(size, rest.count) ? max(16, 2 * round.taken) : Self.portion
      rest = rest.dropFirst(round.taken)
    }
  }

  // MARK: Rounds

  /// What the first of some rows come to.
  private struct Round {
    var request = SaveChangesRequest()
    var taken = 0
  }

  /// Writes the first of some rows.
  private func settle(_ rows: [NewRow]) throws -> Round {
    var round = Round()
    if constraints.isEmpty {
      round.request.insertions = rows.map { .init(snapshot: $0.row) }
      round.taken = rows.count
      try writer.write(round.request)
      return round
    }
    for attempt in 1... {
      try writer.connection.run("SAVEPOINT \(Self.savepoint)")
      do {
        round = try plan(rows)
        try writer.write(round.request)
      } catch {
        let failure = error as? PostgreSQLFailure
        guard error is RowsChanged || failure?.state == .uniqueViolation, attempt < Self.attempts
        else { throw error }
        try writer.connection.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)")
        continue
      }
      try writer.connection.run("RELEASE SAVEPOINT \(Self.savepoint)")
      return round
    }
    return round
  }

  /// Who has unique values.
  private enum Owner {
    case stored(FoundRow)
    /// A row that the round inserts.
    case new
  }

  private func plan(_ rows: [NewRow]) throws -> Round {
    var places = try places(of: rows)
    var round = Round()
    var touched: Set<ManagedObjectID> = []
    for (index, new) in rows.enumerated() {
      let found = zip(constraints, places).lazy.compactMap { constraint, place in
        place.owner(of: index).map { ($0, constraint) }
      }.first
      guard let (owner, constraint) = found else {
        round.request.insertions.append(.init(snapshot: new.row))
        for place in places.indices { places[place].take(index) }
        round.taken += 1
        continue
      }
      switch duplicates {
      case .skip: break
      case .refuse: throw SQLBatch.refusal(of: new.row, entity, constraint)
      case .overwrite:
        // What the round writes is seen by the next one.
        guard case .stored(let row) = owner, touched.insert(row.id).inserted else { return round }
        let values = writer.schema.entity(row.id.entity).overwritten(by: new.given)
        round.request.updates.append(writer.update(row, to: values))
        let others = Set(constraints.flatMap(\.slots)).subtracting(constraint.slots)
        if values.keys.contains(where: others.contains) {
          round.taken += 1
          return round
        }
      }
      round.taken += 1
    }
    return round
  }

  // MARK: Unique values

  /// The values of one constraint: rows with equal ones are of one class.
  private struct UniquePlace {
    var classes: [Int: Int64] = [:]
    var owners: [Int64: Owner] = [:]

    func owner(of row: Int) -> Owner? { classes[row].flatMap { owners[$0] } }
    mutating func take(_ row: Int) {
      if let found = classes[row] { owners[found] = .new }
    }
  }

  /// One for each constraint.
  private func places(of rows: [NewRow]) throws -> [UniquePlace] {
    let statements = try constraints.map { try search(for: rows.map(\.row), $0) }
    return try writer.connection.run(statements).map { found in
      var place = UniquePlace()
      for row in 0..<found.count {
        guard let number = found.integer(row, 0), let rank = found.integer(row, 1) else { continue }
        place.classes[Int(number) - 1] = rank
        guard let entity = found.integer(row, 2), let key = found.integer(row, 3),
          let version = found.integer(row, 4),
          let id = writer.content.objectID(entity: Int(truncatingIfNeeded: entity), key: key)
        else { continue }
        place.owners[rank] = .stored(FoundRow(id: id, version: version))
      }
      return place
    }
  }

  /// Finds the classes of rows without NULL among the values, and the stored rows that have them.
  private func search(for rows: [RowSnapshot], _ constraint: SQLConstraint) throws -> Statement {
    let content = writer.content
    let values = RowWriting(content: content, entity: entity, slots: constraint.slots)
    var arrays = ColumnArrays(values.types)
    for row in rows { try values.append(row, to: &arrays) }
    var parameters = ParameterList()
    arrays.append(to: &parameters)
    let table = content.schema.table(sqlName: entity.table)
    let exact = Set(
      table?.columns.filter { $0.origin.role == .exact }.map { SQLText.name($0.name) } ?? [])
    let names = values.columns.indices.map { "v\($0)" }
    let marks = names.indices.map { "$\($0 + 1)" }
    // What makes a date exact is NULL for most dates.
    let conditions = zip(values.columns, names).map { column, name in
      exact.contains(column)
        ? "t.\(column) IS NOT DISTINCT FROM u.\(name)" : "t.\(column) = u.\(name)"
    }
    let present = zip(values.columns, names).filter { !exact.contains($0.0) }
      .map { "u.\($0.1) IS NOT NULL" }
    let (key, number, version) = (
      SQLText.name(PostgreSQLSchemaBuilder.identifier),
      SQLText.name(PostgreSQLSchemaBuilder.entity),
      SQLText.name(PostgreSQLSchemaBuilder.version)
    )
    return Statement(
      "SELECT u.n, dense_rank() OVER (ORDER BY \(names.map { "u.\($0)" }.joined(separator: ", "))), "
        + "m.e, m.k, m.v FROM unnest(\(marks.joined(separator: ", "))) WITH ORDINALITY "
        + "AS u(\((names + ["n"]).joined(separator: ", "))) LEFT JOIN LATERAL "
        + "(SELECT t.\(number) AS e, t.\(key) AS k, t.\(version) AS v "
        + "FROM \(content.schema.place(ofTable: entity.table)) t "
        + "WHERE \(conditions.joined(separator: " AND ")) LIMIT 1) m ON true "
        + "WHERE \(present.joined(separator: " AND "))", parameters)
  }
}
