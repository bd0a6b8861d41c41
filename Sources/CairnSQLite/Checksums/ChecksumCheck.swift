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
    let tables = try ChecksumTable.tables(of: lookup.schema, connection)
    let sums = ChecksumTable(tables, connection, files: lookup.reader.files)
    // Links that other programs have changed since are not known.
    let checksLinks = try sums.coversLinks() && sums.isUpToDate()
    for table in tables {
      do {
        if let root = table.root {
          findings += try rowFindings(of: table, root)
        } else if checksLinks {
          findings += try linkFindings(of: table)
        }
      } catch {
        guard let failure = SQLiteResultCode.failure(in: error) else { throw error }
        findings.append(
          StoreFinding(
            .checksum, table: table.name, "The rows cannot be read: \(failure.message)."))
      }
    }
    return findings
  }

  // MARK: Rows

  private func rowFindings(of table: SummedTable, _ root: SQLEntity) throws -> [StoreFinding] {
    let number = root.number
    let unknown = try changedElsewhere(root)
    var findings: [StoreFinding] = []
    let changed = try connection.statement(
      "SELECT t.Z_PK, t.Z_ENT, s.S IS NULL FROM \(root.table) t LEFT JOIN \(ChecksumTable.name) s "
        + "ON s.E = \(number) AND s.K = t.Z_PK WHERE s.S IS NOT \(table.sum) LIMIT \(Self.limit)")
    defer { changed.reset() }
    while try changed.step() {
      let key = changed.integer(0)
      if unknown.contains(key) { continue }
      findings.append(
        finding(
          root, entity: changed.integer(1), key: key,
          changed.integer(2) != 0
            ? "is stored, but was never saved under this key" : "is not stored as it was saved"))
    }
    let lost = try connection.statement(
      "SELECT K FROM \(ChecksumTable.name) WHERE E = \(number) "
        + "AND NOT EXISTS (SELECT 1 FROM \(root.table) t WHERE t.Z_PK = K) LIMIT \(Self.limit)")
    defer { lost.reset() }
    while try lost.step() {
      let key = lost.integer(0)
      if unknown.contains(key) { continue }
      findings.append(
        finding(root, entity: Int64(number), key: key, "was saved, but is not stored any more"))
    }
    return findings
  }

  /// Rows that programs without sums have written since, as far as history tells.
  private func changedElsewhere(_ root: SQLEntity) throws -> Set<Int64> {
    guard try connection.hasTable("ACHANGE") else { return [] }
    let select = try connection.statement(
      "SELECT ZENTITYPK FROM ACHANGE WHERE ZENTITY BETWEEN ? AND ? AND ZTRANSACTIONID > "
        + "(SELECT S FROM \(ChecksumTable.name) WHERE E = 0 AND K = 0)")
    defer { select.reset() }
    select.bind(Int64(root.subtree.lowerBound), at: 1)
    select.bind(Int64(root.subtree.upperBound), at: 2)
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

  // MARK: Links

  private func linkFindings(of table: SummedTable) throws -> [StoreFinding] {
    guard let ends = LinkEnds(of: table.name, in: lookup.schema) else { return [] }
    var findings: [StoreFinding] = []
    let changed = try connection.statement(
      "SELECT t.\(ends.ownerColumn), t.\(ends.memberColumn) FROM \(table.name) t "
        + "LEFT JOIN \(ChecksumTable.name) s ON s.E = \(table.number) AND s.K = t.rowid "
        + "WHERE s.S IS NOT \(table.sum) LIMIT \(Self.limit)")
    defer { changed.reset() }
    while try changed.step() {
      let key = changed.integer(0)
      let owner = lookup.reader.objectID(ends.owner, key: key).uriRepresentation().absoluteString
      let member = lookup.reader.objectID(ends.member, key: changed.integer(1))
        .uriRepresentation().absoluteString
      findings.append(
        StoreFinding(
          .checksum, entity: ends.owner.name, key: key, table: table.name,
          "\(ends.relationship) of \(owner) is not as it was saved: the link to \(member)."))
    }
    let lost = try connection.integer(
      "SELECT COUNT(*) FROM \(ChecksumTable.name) WHERE E = ? "
        + "AND NOT EXISTS (SELECT 1 FROM \(table.name) t WHERE t.rowid = K)", table.number)
    if let lost, lost > 0 {
      findings.append(
        StoreFinding(
          .checksum, entity: ends.owner.name, table: table.name,
          "Links of \(ends.relationship) were saved, but are not stored any more: \(lost)."))
    }
    return findings
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
      let sum = try connection.integer(
        "SELECT S FROM \(ChecksumTable.name) WHERE E = -1 AND K = ?",
        ChecksumTable.key(ofFile: file))
      if let sum, sum != RowSum.of(data) { add("is not as it was saved") }
    }
    return findings
  }
}
