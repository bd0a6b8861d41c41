import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Gathers what a ``StoreInspection`` says, inside one read transaction.
struct InspectionReading {
  let url: URL
  let connection: SQLiteConnection
  /// The model to check by; nil for the one of the file.
  let model: ManagedObjectModel?
  let checks: Bool
  let files: ExternalDataFiles
  /// How bad it is what Apple's frameworks leave behind.
  let leftovers: StoreFinding.Severity

  func inspection() throws -> StoreInspection {
    let facts = try facts()
    let remembered = rememberedModel()
    let schema = try schema(facts, remembered)
    let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: facts.metadata ?? [:]) ?? [:]
    let entities = try entities(facts.catalog, schema: schema, hashes: hashes)
    let findings =
      checks
      ? try StoreCheck(
        connection: connection, catalog: facts.catalog, schema: schema, files: files,
        metadata: facts.metadata, leftovers: leftovers
      ).findings() : []
    return try StoreInspection(
      reading: self, facts: facts, rememberedModel: remembered, entities: entities,
      findings: findings)
  }

  private func schema(
    _ facts: SQLiteFileFacts, _ remembered: StoreInspection.RememberedModel
  ) throws -> SQLSchema? {
    var known = model
    if known == nil, case .model(let own) = remembered { known = own }
    return try known.map { model in
      try model.prepareForUse()
      return SQLSchema(model: model, catalog: facts.catalog)
    }
  }

  /// Which of some files the rows name.
  func namedFiles(among names: Set<String>) throws -> Set<String> {
    try schema(facts(), rememberedModel())?.namedFiles(among: names, connection) ?? []
  }

  /// - Throws: ``CoreDataError`` for a database that is no store of Core Data.
  private func facts() throws -> SQLiteFileFacts {
    let log = LeftLog(path: url.resolvingSymlinksInPath().path)
    let facts: SQLiteFileFacts
    do {
      facts = try SQLiteFileFacts.read(connection, path: url.path)
      try log.check(facts.metadata, connection)
    } catch {
      throw log.explain(error)
    }
    if facts.metadata == nil {
      throw CoreDataError(
        .persistentStoreInvalidType, "\(url.path) is an empty database, not a store.",
        userInfo: [NSFilePathErrorKey: url.path])
    }
    return facts
  }

  private func rememberedModel() -> StoreInspection.RememberedModel {
    do {
      guard let model = try ModelCacheTable.read(connection, path: url.path) else { return .none }
      try model.prepareForUse()
      return .model(model)
    } catch {
      let reason = (error as? CoreDataError)?.underlyingError ?? error
      return .unreadable("\(reason)")
    }
  }

  // MARK: Entities

  private func entities(
    _ catalog: SQLCatalog, schema: SQLSchema?, hashes: [String: Data]
  ) throws -> [StoreInspection.Entity] {
    let statement = try connection.statement(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT > 0 AND Z_ENT < ? ORDER BY Z_ENT"
    )
    defer { statement.reset() }
    statement.bind(BookkeepingCheck.firstReservedNumber, at: 1)
    var rows: [(number: Int, name: String, superNumber: Int)] = []
    while try statement.step() {
      rows.append(
        (
          Int(truncatingIfNeeded: statement.integer(0)), statement.string(1),
          Int(truncatingIfNeeded: statement.integer(2))
        ))
    }
    let byNumber = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    return rows.map { row in
      let known = schema?.entity(number: row.number)
      var root = row
      // Damaged numbers may lead in circles.
      for _ in rows.indices {
        guard root.superNumber != 0, let above = byNumber[root.superNumber] else { break }
        root = above
      }
      let table = known?.table ?? "Z" + root.name.uppercased()
      let name = known?.name ?? row.name
      return StoreInspection.Entity(
        name: name, number: row.number,
        superentity: row.superNumber == 0 ? nil : byNumber[row.superNumber]?.name,
        isAbstract: known?.entity.isAbstract, table: table,
        count: count(row.number, table, catalog), versionHash: hashes[name])
    }
  }

  /// Nil for a table that is missing or cannot be read.
  private func count(_ number: Int, _ table: String, _ catalog: SQLCatalog) -> Int? {
    guard catalog.tables[table]?.contains("Z_ENT") == true else { return nil }
    return try? connection.integer(
      "SELECT COUNT(*) FROM \(table.quotedAsName) WHERE Z_ENT = ?", Int64(number)
    ).map { Int($0) }
  }

  // MARK: The rest

  func history(_ catalog: SQLCatalog) throws -> StoreInspection.History? {
    guard let transactions = catalog.tables["ATRANSACTION"], catalog.tables["ACHANGE"] != nil else {
      return nil
    }
    let statement = try connection.statement(
      "SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP), MAX(Z_PK) FROM ATRANSACTION")
    defer { statement.reset() }
    _ = try statement.step()
    func date(_ column: Int32) -> Date? {
      statement.isNull(column)
        ? nil : Date(timeIntervalSinceReferenceDate: statement.double(column))
    }
    return StoreInspection.History(
      transactions: Int(statement.integer(0)),
      changes: Int(try connection.integer("SELECT COUNT(*) FROM ACHANGE") ?? 0),
      oldest: date(1), newest: date(2),
      lastTransaction: statement.isNull(3) ? nil : statement.integer(3),
      authors: try authors(transactions, catalog))
  }

  private func authors(_ columns: [String], _ catalog: SQLCatalog) throws -> [String] {
    var found: Set<String> = []
    var queries: [String] = []
    if columns.contains("ZAUTHOR") {
      queries.append("SELECT DISTINCT ZAUTHOR FROM ATRANSACTION WHERE ZAUTHOR IS NOT NULL")
    }
    if columns.contains("ZAUTHORTS"), catalog.tables["ATRANSACTIONSTRING"] != nil {
      queries.append(
        "SELECT ZNAME FROM ATRANSACTIONSTRING "
          + "WHERE Z_PK IN (SELECT DISTINCT ZAUTHORTS FROM ATRANSACTION)")
    }
    for query in queries {
      let statement = try connection.statement(query)
      defer { statement.reset() }
      while try statement.step() { found.insert(statement.string(0)) }
    }
    return found.sorted()
  }

  func externalData() -> StoreInspection.ExternalData? {
    let manager = FileManager.default
    guard manager.fileExists(atPath: files.folder.path) else { return nil }
    let names = files.names
    let size = names.reduce(Int64(0)) { sum, name in
      let facts = try? manager.attributesOfItem(
        atPath: files.folder.appendingPathComponent(name).path)
      return sum + ((facts?[.size] as? NSNumber)?.int64Value ?? 0)
    }
    return StoreInspection.ExternalData(folder: files.folder.path, files: names.count, size: size)
  }

  /// Tables without a place in the format.
  func foreignTables(
    _ catalog: SQLCatalog, entities: [StoreInspection.Entity]
  ) -> [String] {
    let own: Set<String> = Set(entities.map(\.table)).union([
      "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION",
      "ATRANSACTIONSTRING",
    ])
    // Join tables and location indexes begin as no table of an entity does.
    return catalog.tables.keys.filter { !own.contains($0) && !$0.hasPrefix("Z_") }.sorted()
  }

  func size(of suffix: String) -> Int64 {
    let facts = try? FileManager.default.attributesOfItem(
      atPath: url.resolvingSymlinksInPath().path + suffix)
    return (facts?[.size] as? NSNumber)?.int64Value ?? 0
  }

  /// As the header says; a connection to an immutable file would say otherwise.
  var journalMode: String {
    let header = DatabaseHeader.bytes(at: url.path) ?? Data()
    return header.count >= 20 && header[header.startIndex + 18] == 2 ? "wal" : "delete"
  }
}
