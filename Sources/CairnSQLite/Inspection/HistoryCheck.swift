import CairnModel
import CairnSQL
import CairnStore

/// Checks the tables of persistent history against each other and against the rows.
struct HistoryCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    guard store.has("Z_PK", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", in: "ACHANGE"),
      store.hasTable("ATRANSACTION")
    else { return [] }
    return try counters() + links() + changes() + strings() + rows()
  }

  private static let tables: [(name: String, number: Int)] = [
    ("ACHANGE", HistoryTables.changeNumber), ("ATRANSACTION", HistoryTables.transactionNumber),
    ("ATRANSACTIONSTRING", HistoryTables.stringNumber),
  ]

  private func finding(
    _ sql: String, _ table: String, _ column: String, _ severity: StoreFinding.Severity = .damage,
    _ message: (SQLiteStatement) -> String
  ) throws -> [StoreFinding] {
    try store.rows(sql, .history, severity, table: table, column: column, message)
  }

  private func counters() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (table, number) in Self.tables where store.has("Z_PK", "Z_ENT", in: table) {
      findings += try finding(
        "SELECT Z_PK, NULL, Z_ENT FROM \(table) WHERE Z_ENT IS NOT \(number)", table, "Z_ENT"
      ) { "The number is \($0.string(2)) instead of \(number)." }
      // Older frameworks keep no counter of some tables.
      guard
        let counter = try store.connection.integer(
          "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", Int64(number)),
        let highest = try store.connection.integer("SELECT MAX(Z_PK) FROM \(table)"),
        highest > counter
      else { continue }
      findings.append(
        StoreFinding(
          .keyCounter, table: table, column: "Z_MAX",
          "The counter is \(counter), and there is a row with the key \(highest)."))
    }
    return findings
  }

  private func links() throws -> [StoreFinding] {
    try finding(
      "SELECT c.Z_PK, NULL, c.ZTRANSACTIONID FROM ACHANGE c LEFT JOIN ATRANSACTION t "
        + "ON t.Z_PK = c.ZTRANSACTIONID WHERE t.Z_PK IS NULL", "ACHANGE", "ZTRANSACTIONID"
    ) { "The change is of transaction \($0.string(2)), which does not exist." }
  }

  private func changes() throws -> [StoreFinding] {
    var findings = try finding(
      "SELECT Z_PK, NULL, ZCHANGETYPE FROM ACHANGE WHERE ZCHANGETYPE IS NULL "
        + "OR ZCHANGETYPE NOT IN (0, 1, 2)", "ACHANGE", "ZCHANGETYPE"
    ) { "There is no kind of change \($0.isNull(2) ? "NULL" : $0.string(2))." }
    findings += try finding(
      "SELECT Z_PK, NULL FROM ACHANGE WHERE ZENTITYPK IS NULL OR ZENTITY IS NULL", "ACHANGE",
      "ZENTITYPK"
    ) { _ in "The change names no object." }
    if store.has("ZCOLUMNS", in: "ACHANGE") {
      findings += try finding(
        "SELECT Z_PK, NULL FROM ACHANGE WHERE ZCOLUMNS IS NOT NULL AND ZCHANGETYPE IN (0, 2)",
        "ACHANGE", "ZCOLUMNS"
      ) { _ in "Only updates list properties." }
    }
    guard let schema = store.schema else { return findings }
    let concrete = schema.entities.filter { !$0.entity.isAbstract }.map { String($0.number) }
    findings += try finding(
      "SELECT Z_PK, NULL, ZENTITY FROM ACHANGE WHERE ZENTITY < "
        + "\(BookkeepingCheck.firstReservedNumber) AND ZENTITY NOT IN "
        + "(\(concrete.joined(separator: ", ")))", "ACHANGE", "ZENTITY"
    ) { "\(store.name(ofEntity: $0.integer(2))) has no objects that could change." }
    let tombstones = schema.entities.map(\.history.tombstoneSlots.count).max() ?? 0
    for index in 0..<tombstones where !store.has("ZTOMBSTONE\(index)", in: "ACHANGE") {
      findings.append(
        StoreFinding(
          .schema, table: "ACHANGE", column: "ZTOMBSTONE\(index)", "The column is missing."))
    }
    return findings
  }

  private func strings() throws -> [StoreFinding] {
    guard store.has("Z_PK", "ZNAME", in: "ATRANSACTIONSTRING") else { return [] }
    var findings: [StoreFinding] = []
    for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
    where store.has(column, in: "ATRANSACTION") {
      findings += try finding(
        "SELECT t.Z_PK, NULL, t.\(column) FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING s "
          + "ON s.Z_PK = t.\(column) WHERE t.\(column) IS NOT NULL AND s.Z_PK IS NULL",
        "ATRANSACTION", column
      ) { "There is no string \($0.string(2)) in ATRANSACTIONSTRING." }
    }
    return findings
  }

  /// What the last change of an object says against what is there.
  private func rows() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for entity in store.entities where !entity.entity.isAbstract {
      let last =
        "SELECT c.ZENTITYPK, \(entity.number), c.Z_PK FROM (SELECT ZENTITYPK, ZCHANGETYPE, "
        + "MAX(Z_PK) AS Z_PK FROM ACHANGE WHERE ZENTITY = \(entity.number) GROUP BY ZENTITYPK) c "
        + "LEFT JOIN \(entity.table) d ON d.Z_PK = c.ZENTITYPK "
      findings += try store.rows(
        last + "WHERE c.ZCHANGETYPE = 2 AND d.Z_PK IS NOT NULL", .history, entity: entity,
        table: "ACHANGE"
      ) { "Change \($0.string(2)) says that the object was deleted, and its row is there." }
      findings += try store.rows(
        last + "WHERE c.ZCHANGETYPE IN (0, 1) AND d.Z_PK IS NULL", .history, .remark,
        entity: entity, table: "ACHANGE"
      ) { "Change \($0.string(2)) is the object's last, and its row is gone without a deletion." }
    }
    return findings
  }
}
