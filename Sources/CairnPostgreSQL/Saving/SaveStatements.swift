import CairnModel
import CairnSQL
import CairnStore

/// The statements of a save, in the order in which they run, and how many rows each must touch.
///
/// Each is sent when it is made: the server works at it while the next one is.
///
/// Rows of one entity whose same columns change go together, in arrays that `unnest` makes rows of.
struct SaveStatements {
  let content: StoreContent
  let request: SaveChangesRequest
  private let send: (Statement) throws -> Void
  /// By statement; nil where any number will do.
  private(set) var wanted: [Int?] = []
  /// The statements that record in history what they do.
  private(set) var recording: [Int] = []
  private let history: ChangeRecording?

  /// So many rows go into one statement, unless they have more than so many bytes: the server takes a gigabyte at most.
  private static let portion = 1000
  private static let longestPortion = 16 << 20
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  private var schema: PostgreSQLSchema { content.schema }

  init(
    _ request: SaveChangesRequest, content: StoreContent, recordsHistory: Bool = false,
    send: @escaping (Statement) throws -> Void
  ) throws {
    self.content = content
    self.request = request
    self.send = send
    history = recordsHistory ? ChangeRecording(schema: content.schema) : nil
    try lock()
    try delete()
    try clearMovingValues()
    try update()
    try insert()
    try link()
  }

  private mutating func add(
    _ text: String, _ parameters: ParameterList, wanted count: Int? = nil
  ) throws {
    try send(Statement(text, parameters))
    wanted.append(count)
  }

  /// Adds a statement that changes rows, and records what it does where history is kept.
  private mutating func change(
    _ text: String, _ parameters: ParameterList, wanted count: Int? = nil, of entity: SQLEntity,
    _ source: @autoclosure () -> ChangeRecording.Source
  ) throws {
    guard let history else { return try add(text, parameters, wanted: count) }
    recording.append(wanted.count)
    try add(
      history.recording(text, key: "t.\(Self.key)", of: entity, source()), parameters, wanted: count
    )
  }

  private func entity(_ id: ManagedObjectID) -> SQLEntity { schema.sql.entity(id.entity) }

  /// Keys and versions of many rows, as the first two parameters.
  private static func parameters(_ rows: [(key: Int64, version: Int64)]) -> ParameterList {
    var parameters = ParameterList()
    parameters.append(keys: rows.map(\.key))
    parameters.append(keys: rows.map(\.version))
    return parameters
  }

  // MARK: Locks and deletions

  private mutating func lock() throws {
    let groups = Dictionary(grouping: request.locks) { entity($0.objectID).table }
    for (table, locks) in groups.sorted(by: { $0.key < $1.key }) {
      let rows = locks.map { (key: $0.objectID.rowKey ?? 0, version: $0.version) }
      // No other transaction changes them until this one ends.
      try add(
        "SELECT 1 FROM \(schema.place(ofTable: table)) t "
          + "JOIN unnest($1, $2) AS l(id, version) ON t.\(Self.key) = l.id "
          + "AND t.\(Self.version) = l.version FOR SHARE OF t", Self.parameters(rows),
        wanted: rows.count)
    }
  }

  private mutating func delete() throws {
    let groups = Dictionary(grouping: request.deletions) { entity($0.objectID).number }
    for (number, deletions) in groups.sorted(by: { $0.key < $1.key }) {
      guard let entity = schema.sql.entity(number: number) else { continue }
      let place = schema.place(ofTable: entity.table)
      let source = ChangeRecording.Source.deletion(
        Tombstone.expression(of: entity, row: "t", in: schema), order: "d.n")
      let checked = deletions.filter { !$0.overwritesConflicts }
      if !checked.isEmpty {
        try change(
          "DELETE FROM \(place) t USING unnest($1, $2) WITH ORDINALITY AS d(id, version, n) "
            + "WHERE t.\(Self.key) = d.id AND t.\(Self.version) = d.version",
          Self.parameters(checked.map { ($0.objectID.rowKey ?? 0, $0.version) }),
          wanted: checked.count, of: entity, source)
      }
      var forced = ParameterList()
      forced.append(
        keys: deletions.filter(\.overwritesConflicts).compactMap(\.objectID.rowKey))
      if checked.count < deletions.count {
        try change(
          "DELETE FROM \(place) t USING unnest($1) WITH ORDINALITY AS d(id, n) "
            + "WHERE t.\(Self.key) = d.id", forced, of: entity, source)
      }
      var keys = ParameterList()
      keys.append(keys: deletions.compactMap(\.objectID.rowKey))
      for (table, column) in schema.sql.joinColumns(of: entity) {
        try add(
          "DELETE FROM \(schema.place(ofTable: table)) "
            + "WHERE \(schema.column(column, ofTable: table)) = ANY ($1)", keys)
      }
      for case .foreignKey(let table, let column, _, _, true) in entity.links
      where column != "NULL" {
        let name = schema.column(column, ofTable: table)
        try add(
          "UPDATE \(schema.place(ofTable: table)) SET \(name) = NULL WHERE \(name) = ANY ($1)", keys
        )
      }
    }
  }

  // MARK: Rows

  /// When several updates touch unique columns, the values may be exchanged between the rows; they are all taken away
  /// first, since NULLs never collide.
  private mutating func clearMovingValues() throws {
    var moving: [MovingGroup: [Int64]] = [:]
    for update in request.updates {
      let entity = entity(update.snapshot.objectID)
      let unique = Set(entity.constraints.flatMap(\.slots))
      let columns = update.changedSlots.filter(unique.contains).compactMap {
        entity.slots[$0].column
      }
      guard !columns.isEmpty, let key = update.snapshot.rowKey else { continue }
      moving[MovingGroup(table: entity.table, columns: columns.sorted()), default: []].append(key)
    }
    guard moving.values.reduce(0, { $0 + $1.count }) > 1 else { return }
    for (group, keys) in moving.sorted(by: { $0.key < $1.key }) {
      var parameters = ParameterList()
      parameters.append(keys: keys)
      let list = group.columns.map { "\(schema.column($0, ofTable: group.table)) = NULL" }
      try add(
        "UPDATE \(schema.place(ofTable: group.table)) SET \(list.joined(separator: ", ")) "
          + "WHERE \(Self.key) = ANY ($1)", parameters)
    }
  }

  /// Rows whose same unique columns change.
  private struct MovingGroup: Hashable, Comparable {
    let table: String
    let columns: [String]

    static func < (a: MovingGroup, b: MovingGroup) -> Bool {
      (a.table, a.columns.joined(separator: " ")) < (b.table, b.columns.joined(separator: " "))
    }
  }

  private struct UpdateGroup: Hashable {
    let entity: Int
    let slots: [Int]
    /// To-many relationships, which only history tells of.
    let toManys: [Int]
    let overwrites: Bool
  }

  private mutating func update() throws {
    let groups = Dictionary(grouping: request.updates) {
      UpdateGroup(
        entity: entity($0.snapshot.objectID).number, slots: $0.changedSlots.sorted(),
        toManys: history == nil ? [] : $0.changedToManys.sorted(),
        overwrites: $0.overwritesConflicts)
    }
    func order(_ group: UpdateGroup) -> (Int, Int, Int, String) {
      (
        group.entity, group.overwrites ? 1 : 0, group.slots.count,
        "\(group.slots) \(group.toManys)"
      )
    }
    for (group, updates) in groups.sorted(by: { order($0.key) < order($1.key) }) {
      guard let entity = schema.sql.entity(number: group.entity) else { continue }
      if group.overwrites {
        for update in updates { try overwrite(update, group, entity) }
        continue
      }
      try update(updates, group, entity)
    }
  }

  private mutating func update(
    _ updates: [SaveChangesRequest.Update], _ group: UpdateGroup, _ entity: SQLEntity
  ) throws {
    let slots = group.slots
    let writer = RowWriting(content: content, entity: entity, slots: slots)
    let names = writer.columns.indices.map { "v\($0)" }
    let marks = (1...(names.count + 2)).map { "$\($0)" }.joined(separator: ", ")
    let assignments = zip(writer.columns, names).map { "\($0) = u.\($1), " }.joined()
    let text =
      "UPDATE \(schema.place(ofTable: entity.table)) t SET \(assignments)\(Self.version) = u.version + 1 "
      + "FROM unnest(\(marks)) WITH ORDINALITY "
      + "AS u(\((["id", "version"] + names + ["n"]).joined(separator: ", "))) "
      + "WHERE t.\(Self.key) = u.id AND t.\(Self.version) = u.version"
    try Self.forEachPortion(of: updates[...], writer, row: \.snapshot) { updates, columns in
      var parameters = Self.parameters(updates.map { ($0.snapshot.rowKey ?? 0, $0.version) })
      columns.append(to: &parameters)
      try change(
        text, parameters, wanted: updates.count, of: entity,
        .update(
          ChangeRecording.names(entity, slots: slots, toManys: group.toManys), order: "u.n"))
    }
  }

  /// Gives the values of rows by the column, so many rows at a time as one statement takes.
  private static func forEachPortion<Row>(
    of rows: ArraySlice<Row>, _ writer: RowWriting, row: (Row) -> RowSnapshot,
    _ body: (ArraySlice<Row>, ColumnArrays) throws -> Void
  ) throws {
    var columns = ColumnArrays(writer.types)
    var start = rows.startIndex
    for index in rows.indices {
      try writer.append(row(rows[index]), to: &columns)
      let isFull = index + 1 - start == portion || columns.byteCount > longestPortion
      guard isFull || index + 1 == rows.endIndex else { continue }
      try body(rows[start...index], columns)
      columns.removeAll()
      start = index + 1
    }
  }

  /// Whatever version is there; a row that was deleted meanwhile lives on, as was decided.
  private mutating func overwrite(
    _ update: SaveChangesRequest.Update, _ group: UpdateGroup, _ entity: SQLEntity
  ) throws {
    let slots = group.slots
    let all = RowWriting(content: content, entity: entity)
    var parameters = ParameterList()
    parameters.append(update.snapshot.rowKey ?? 0)
    parameters.append(Int64(entity.number))
    parameters.append(update.version &+ 1)
    try all.append(update.snapshot, to: &parameters)
    let columns = [Self.key, Self.entity, Self.version] + all.columns
    let marks = columns.indices.map { $0 == 1 ? "$2::integer" : "$\($0 + 1)" }
    let changed = RowWriting(content: content, entity: entity, slots: slots).columns
    let assignments = changed.map { "\($0) = excluded.\($0), " }.joined()
    // A row that the statement made has no transaction that locked it.
    var source = ChangeRecording.Source(kind: "CASE WHEN t.xmax = 0 THEN 0 ELSE 1 END")
    source.properties = ChangeRecording.names(entity, slots: slots, toManys: group.toManys)
    try change(
      "INSERT INTO \(schema.place(ofTable: entity.table)) AS t (\(columns.joined(separator: ", "))) "
        + "VALUES (\(marks.joined(separator: ", "))) ON CONFLICT (\(Self.key)) DO UPDATE SET "
        + "\(assignments)\(Self.version) = GREATEST(t.\(Self.version) + 1, excluded.\(Self.version))",
      parameters, wanted: 1, of: entity, source)
  }

  private mutating func insert() throws {
    for (entity, insertions) in insertionsByEntity() {
      let writer = RowWriting(content: content, entity: entity)
      try Self.forEachPortion(of: insertions, writer, row: \.snapshot) { portion, columns in
        var parameters = ParameterList()
        parameters.append(keys: portion.map { $0.snapshot.rowKey ?? 0 })
        columns.append(to: &parameters)
        let names = [Self.key] + writer.columns
        let marks = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        try change(
          "INSERT INTO \(schema.place(ofTable: entity.table)) AS t "
            + "(\(Self.entity), \(Self.version), \(names.joined(separator: ", "))) "
            + "SELECT \(entity.number), 1, u.* FROM unnest(\(marks)) AS u", parameters,
          wanted: portion.count, of: entity, .insertion)
      }
    }
  }

  /// Mostly they are runs of one entity, which are not copied.
  private func insertionsByEntity() -> [(SQLEntity, ArraySlice<SaveChangesRequest.Insertion>)] {
    let all = request.insertions
    guard let home = all.first?.snapshot.home else { return [] }
    if all.allSatisfy({ $0.snapshot.home == home }) {
      return [(entity(all[0].snapshot.objectID), all[...])]
    }
    let groups = Dictionary(grouping: all) { entity($0.snapshot.objectID).number }
    return groups.sorted { $0.key < $1.key }.compactMap { number, insertions in
      schema.sql.entity(number: number).map { ($0, insertions[...]) }
    }
  }

  // MARK: Links

  private mutating func link() throws {
    for change in request.links {
      guard let link = content.link(of: change.relationship), let owner = change.owner.rowKey else {
        continue
      }
      for (members, isAdding) in [(change.removed, false), (change.added, true)] {
        if members.isEmpty { continue }
        var parameters = ParameterList()
        parameters.append(owner)
        parameters.append(keys: members.compactMap(\.rowKey))
        for text in Self.statements(link, isAdding: isAdding) { try add(text, parameters) }
      }
    }
  }

  private static func statements(_ link: LinkPlace, isAdding: Bool) -> [String] {
    switch link {
    case .key(_, _, _, false): return []
    case .key(let table, let owner, _, true):
      return isAdding
        ? ["UPDATE \(table) SET \(owner) = $1 WHERE \(key) = ANY ($2)"]
        : ["UPDATE \(table) SET \(owner) = NULL WHERE \(owner) = $1 AND \(key) = ANY ($2)"]
    case .join(let table, let owner, let member, _, let isReflexive):
      let ways = isReflexive ? [(owner, member), (member, owner)] : [(owner, member)]
      return ways.map { owner, member in
        isAdding
          ? "INSERT INTO \(table) (\(owner), \(member)) SELECT $1, m FROM unnest($2) AS m "
            + "ON CONFLICT DO NOTHING"
          : "DELETE FROM \(table) WHERE \(owner) = $1 AND \(member) = ANY ($2)"
      }
    }
  }
}
