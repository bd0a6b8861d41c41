import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Compares what is stored with the sums of what was saved, and names the objects that differ.
struct ChecksumCheck {
  let lookup: RowLookup
  private var connection: SQLiteConnection { lookup.connection }
  /// So many objects are named of each table.
  private static let limit = 100

  func findings() throws -> [StoreFinding] {
    guard try ChecksumTable.exists(connection) else { return [] }
    var findings = changedFiles()
    try reporting("The sums of rows cannot be read", table: ChecksumTable.name, &findings) {
      let tables = try ChecksumTable.tables(of: lookup.schema, connection)
      let sums = ChecksumTable(tables, connection, files: lookup.reader.files)
      let news = try sums.news()
      // History no longer tells which rows others have written.
      if case .untold = news { return [] }
      var isUpToDate = false
      if case .none = news { isUpToDate = true }
      var found: [StoreFinding] = []
      for table in tables where isUpToDate || !table.changesUntold {
        try reporting("The rows cannot be read", table: table.name, &found) {
          guard let root = table.root else { return try linkFindings(of: table) }
          return try rowFindings(of: table, root, news)
        }
      }
      return found
    }
    return findings
  }

  /// Adds what a check finds, or that SQLite did not let it come to an end.
  private func reporting(
    _ problem: String, table: String, _ findings: inout [StoreFinding],
    _ check: () throws -> [StoreFinding]
  ) throws {
    do {
      findings += try check()
    } catch {
      guard let failure = SQLiteResultCode.failure(in: error) else { throw error }
      findings.append(StoreFinding(.checksum, table: table, "\(problem): \(failure.message)."))
    }
  }

  // MARK: Comparing

  private enum Difference {
    /// The row is not the one that was saved.
    case changed
    /// A row whose key no row had that was saved.
    case unknown
    /// There is a sum and no row.
    case lost
  }

  /// Goes over the rows of a table and their sums.
  ///
  /// - Parameters:
  ///   - columns: What `note` wants of a row, from its third column on.
  ///   - note: Gets a key, what is wrong with it, and the row if there is one; says
  ///     whether it wants to know more.
  /// - Returns: Findings about the sums themselves.
  private func compare(
    _ table: SummedTable, columns: [String],
    _ note: (_ key: Int64, Difference, SQLiteStatement) -> Bool
  ) throws -> [StoreFinding] {
    let rows = try connection.statement(table.allRows(with: columns))
    defer { rows.reset() }
    var sums = try StoredSums(of: table.number, connection)
    defer { sums.end() }
    var saved = try sums.nextSum()
    while try rows.step() {
      let key = rows.integer(0)
      while let lost = saved, lost.key < key {
        if !note(lost.key, .lost, rows) { return damage(of: sums, table) }
        saved = try sums.nextSum()
      }
      guard let known = saved, known.key == key else {
        // Those of the keys up to here have been read.
        if sums.isDamaged(key) { continue }
        if !note(key, .unknown, rows) { return damage(of: sums, table) }
        continue
      }
      if known.sum != rows.integer(1), !note(key, .changed, rows) {
        return damage(of: sums, table)
      }
      saved = try sums.nextSum()
    }
    while let lost = saved {
      if !note(lost.key, .lost, rows) { break }
      saved = try sums.nextSum()
    }
    return damage(of: sums, table)
  }

  /// Records that say nothing of their rows.
  private func damage(of sums: StoredSums, _ table: SummedTable) -> [StoreFinding] {
    sums.damagedKeys.prefix(Self.limit).map { keys in
      StoreFinding(
        .checksum, entity: table.root?.name, table: table.name,
        "The sums of the rows of \(table.name) with the keys \(keys.lowerBound) to "
          + "\(keys.upperBound) are damaged: whether these rows are as they were saved cannot be "
          + "told. Saving one of them makes the sums anew.")
    }
  }

  // MARK: Rows

  private func rowFindings(
    of table: SummedTable, _ root: SQLEntity, _ news: SumNews
  ) throws -> [StoreFinding] {
    let unknown = try changedElsewhere(root, news)
    var (changed, lost): ([StoreFinding], [StoreFinding]) = ([], [])
    let damaged = try compare(table, columns: ["Z_ENT"]) { key, difference, row in
      if unknown.contains(key) { return true }
      if difference == .lost {
        guard lost.count < Self.limit else { return changed.count < Self.limit }
        lost.append(
          finding(
            root, entity: Int64(root.number), key: key, "was saved, but is not stored any more"))
      } else {
        guard changed.count < Self.limit else { return lost.count < Self.limit }
        changed.append(
          finding(
            root, entity: row.integer(2), key: key,
            difference == .unknown
              ? "is stored, but was never saved under this key" : "is not stored as it was saved"))
      }
      return true
    }
    return changed + lost + damaged
  }

  /// Rows that programs without sums have written since, as far as history tells.
  private func changedElsewhere(_ root: SQLEntity, _ news: SumNews) throws -> Set<Int64> {
    guard case .told(after: let known) = news, try connection.hasTable("ACHANGE") else { return [] }
    let select = try connection.statement(
      "SELECT ZENTITYPK FROM ACHANGE WHERE ZENTITY BETWEEN ? AND ? AND ZTRANSACTIONID > ?")
    defer { select.reset() }
    select.bind(Int64(root.subtree.lowerBound), at: 1)
    select.bind(Int64(root.subtree.upperBound), at: 2)
    select.bind(known, at: 3)
    var keys: Set<Int64> = []
    while try select.step() { keys.insert(select.integer(0)) }
    return keys
  }

  /// Names the object as people and programs know it.
  private func finding(
    _ root: SQLEntity, entity number: Int64, key: Int64, column: String? = nil, _ what: String
  ) -> StoreFinding {
    let number = Int(truncatingIfNeeded: number)
    let entity =
      root.subtree.contains(number) ? lookup.schema.entity(number: number) ?? root : root
    let uri = lookup.reader.objectID(entity, key: key).uriRepresentation().absoluteString
    return StoreFinding(
      .checksum, entity: entity.name, key: key, table: root.table, column: column,
      "\(uri) \(what).")
  }

  // MARK: What is gone or changed

  /// By table, the keys of rows and links that were saved and are not stored any more.
  func lostKeys() throws -> [(table: SummedTable, keys: [Int64])] { try keys(.lost) }

  /// By table, the keys of rows and links that are not stored as they were saved.
  func changedKeys() throws -> [(table: SummedTable, keys: [Int64])] { try keys(.changed) }

  /// By table, the keys of rows and links that are stored and were never saved.
  func unsavedKeys() throws -> [(table: SummedTable, keys: [Int64])] { try keys(.unknown) }

  private func keys(_ wanted: Difference) throws -> [(table: SummedTable, keys: [Int64])] {
    guard try ChecksumTable.exists(connection) else { return [] }
    let tables = try ChecksumTable.tables(of: lookup.schema, connection)
    let news = try ChecksumTable(tables, connection, files: lookup.reader.files).news()
    if case .untold = news { return [] }
    var isUpToDate = false
    if case .none = news { isUpToDate = true }
    return try tables.filter { isUpToDate || !$0.changesUntold }.map { table in
      let unknown = try table.root.map { try changedElsewhere($0, news) } ?? []
      var keys: [Int64] = []
      _ = try compare(table, columns: []) { key, difference, _ in
        if difference == wanted, !unknown.contains(key) { keys.append(key) }
        return true
      }
      return (table, keys)
    }
  }

  // MARK: Links

  private func linkFindings(of table: SummedTable) throws -> [StoreFinding] {
    guard let ends = LinkEnds(of: table.name, in: lookup.schema) else { return [] }
    var changed: [StoreFinding] = []
    var lost = 0
    let columns = [ends.ownerColumn, ends.memberColumn]
    let damaged = try compare(table, columns: columns) { _, difference, row in
      if difference == .lost {
        lost += 1
      } else if changed.count < Self.limit {
        let key = row.integer(2)
        let owner = lookup.reader.objectID(ends.owner, key: key).uriRepresentation().absoluteString
        let member = lookup.reader.objectID(ends.member, key: row.integer(3))
          .uriRepresentation().absoluteString
        changed.append(
          StoreFinding(
            .checksum, entity: ends.owner.name, key: key, table: table.name,
            "\(ends.relationship) of \(owner) is not as it was saved: the link to \(member)."))
      }
      return true
    }
    if lost == 0 { return changed + damaged }
    let missing = StoreFinding(
      .checksum, entity: ends.owner.name, table: table.name,
      "Links of \(ends.relationship) were saved, but are not stored any more: \(lost).")
    return changed + [missing] + damaged
  }

  /// What a join table links, seen from one side.
  private struct LinkEnds {
    let relationship: String
    let owner, member: SQLEntity
    let ownerColumn, memberColumn: String

    init?(of table: String, in schema: SQLSchema) {
      for entity in schema.entities {
        for index in entity.ownLinks {
          guard case .join(table, let owner, let member, _, _) = entity.links[index],
            let destination = entity.layout.toManys[index].destinationEntity
          else { continue }
          relationship = entity.layout.toManys[index].name
          (self.owner, self.member) = (entity, schema.entity(destination))
          (ownerColumn, memberColumn) = (owner, member)
          return
        }
      }
      return nil
    }
  }

  // MARK: Files

  /// Objects whose external data is not what was saved.
  private func changedFiles() -> [StoreFinding] {
    lookup.schema.entities.flatMap { entity in
      entity.externalSlots.flatMap { slot -> [StoreFinding] in
        do {
          return try fileFindings(of: entity, slot)
        } catch {
          // Rows that cannot be read are reported as such by the other checks.
          return []
        }
      }
    }
  }

  private func fileFindings(of entity: SQLEntity, _ slot: Int) throws -> [StoreFinding] {
    guard let column = entity.slots[slot].column else { return [] }
    let select = try connection.statement(
      "SELECT Z_PK, substr(\(column), 1, 38) FROM \(entity.table) "
        + "WHERE Z_ENT = ? AND substr(\(column), 1, 1) = x'02'")
    defer { select.reset() }
    select.bind(Int64(entity.number), at: 1)
    var findings: [StoreFinding] = []
    while try select.step() && findings.count < Self.limit {
      guard let file = ExternalDataFiles.fileName(ofColumn: select.data(1)) else { continue }
      let property = entity.layout.slots[slot].name
      func add(_ what: String) {
        findings.append(
          finding(
            entity, entity: Int64(entity.number), key: select.integer(0), column: column,
            "has a file, \(file), whose \(property) \(what)"))
      }
      let data: Data?
      do {
        data = try lookup.reader.files.contents(ofFile: file)
      } catch {
        add("cannot be read")
        continue
      }
      // Files that are missing break the format; StoreCheck names them.
      guard let data else { continue }
      let sum = try ChecksumTable.sum(ofFile: file, connection)
      if let sum, sum != RowSum.of(data) { add("is not as it was saved") }
    }
    return findings
  }
}
