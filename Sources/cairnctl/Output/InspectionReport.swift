// What `cairnctl inspect` shows, for machines and for people.
import Cairn
import CairnControl
import Foundation

/// The documented JSON form of an inspection; members are added, never renamed.
struct InspectionReport: Encodable {
  struct Entity: Encodable {
    let name: String
    let number: Int
    let superentity: String?
    let isAbstract: Bool?
    /// Rows of exactly this entity.
    let count: Int?
    /// Base64.
    let versionHash: String?
  }
  struct History: Encodable {
    let transactions: Int
    let changes: Int
    let oldest: WireDate?
    let newest: WireDate?
    let lastTransaction: Int64?
    let authors: [String]
  }
  struct ExternalData: Encodable {
    let folder: String
    let files: Int
    let size: Int64
  }
  struct Finding: Encodable {
    let severity: String
    let rule: String
    let entity: String?
    let key: Int64?
    let table: String?
    let column: String?
    let message: String
  }

  let file: String
  let size: Int64
  let logSize: Int64
  let pageSize: Int
  let journalMode: String
  let identifier: String
  let frameworkVersion: Int?
  let versionIdentifiers: [String]
  let versionChecksum: String?
  let entities: [Entity]
  /// `kept`, `none` or `unreadable`.
  let model: String
  let modelProblem: String?
  let history: History?
  let externalData: ExternalData?
  let foreignTables: [String]
  /// Keys of the metadata that are the program's own.
  let metadataKeys: [String]
  /// `good`, `damaged` or `unchecked`.
  let integrity: String
  let findings: [Finding]

  init(_ store: StoreInspection, path: String, wasChecked: Bool) {
    file = path
    size = store.size
    logSize = store.logSize
    pageSize = store.pageSize
    journalMode = store.journalMode
    identifier = store.identifier
    frameworkVersion = store.frameworkVersion
    versionIdentifiers = store.versionIdentifiers
    versionChecksum = store.versionChecksum
    entities = store.entities.map {
      Entity(
        name: $0.name, number: $0.number, superentity: $0.superentity, isAbstract: $0.isAbstract,
        count: $0.count, versionHash: $0.versionHash?.base64EncodedString())
    }
    switch store.rememberedModel {
    case .model: (model, modelProblem) = ("kept", nil)
    case .none: (model, modelProblem) = ("none", nil)
    case .unreadable(let reason): (model, modelProblem) = ("unreadable", reason)
    }
    history = store.history.map {
      History(
        transactions: $0.transactions, changes: $0.changes, oldest: $0.oldest.map(WireDate.init),
        newest: $0.newest.map(WireDate.init), lastTransaction: $0.lastTransaction,
        authors: $0.authors)
    }
    externalData = store.externalData.map {
      ExternalData(folder: $0.folder, files: $0.files, size: $0.size)
    }
    foreignTables = store.foreignTables
    metadataKeys = store.metadata.keys.filter { !$0.hasPrefix("NS") && !$0.hasPrefix("_NS") }
      .sorted()
    integrity = !wasChecked ? "unchecked" : store.damage.isEmpty ? "good" : "damaged"
    findings = store.findings.map {
      Finding(
        severity: $0.severity.rawValue, rule: $0.rule.rawValue, entity: $0.entity, key: $0.key,
        table: $0.table, column: $0.column, message: $0.message)
    }
  }

  // MARK: For people

  func lines() -> [String] {
    var facts: [(String, String)] = [
      ("File", file),
      (
        "Size",
        "\(Readable.bytes(Int(size)))"
          + (logSize > 0 ? ", and \(Readable.bytes(Int(logSize))) of log" : "")
          + ", journal mode \(journalMode)"
      ),
      ("Identifier", identifier),
      ("Framework", frameworkVersion.map(String.init) ?? "not recorded"),
    ]
    let identifiers = versionIdentifiers.filter { !$0.isEmpty }
    if !identifiers.isEmpty { facts.append(("Version", identifiers.joined(separator: ", "))) }
    if let versionChecksum { facts.append(("Checksum", versionChecksum)) }
    facts.append(("Model", modelText))
    facts.append(("History", historyText))
    if let externalData {
      facts.append(
        (
          "External data",
          "\(Readable.count(externalData.files, "file")), \(Readable.bytes(Int(externalData.size)))"
        ))
    }
    if !foreignTables.isEmpty {
      facts.append(("Other tables", foreignTables.joined(separator: ", ")))
    }
    if !metadataKeys.isEmpty {
      facts.append(("Own metadata", metadataKeys.joined(separator: ", ")))
    }
    facts.append(("Integrity", integrityText))
    let width = facts.map(\.0.count).max() ?? 0
    let head = facts.map { name, value in
      TerminalText.oneLine(name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + value)
    }
    return head + [""] + entityTable.lines()
      + (findings.isEmpty ? [] : [""] + findingTable.lines())
  }

  private var modelText: String {
    if let modelProblem { return "unreadable: \(modelProblem)" }
    return model == "kept" ? "kept inside" : "none inside"
  }

  private var historyText: String {
    guard let history else { return "none" }
    var text = Readable.count(history.transactions, "transaction")
    text += ", " + Readable.count(history.changes, "change")
    if let oldest = history.oldest, let newest = history.newest {
      text += ", \(Readable.moment(oldest)) to \(Readable.moment(newest))"
    }
    if !history.authors.isEmpty { text += ", by \(history.authors.joined(separator: ", "))" }
    return text
  }

  private var integrityText: String {
    let remarks = findings.count { $0.severity == StoreFinding.Severity.remark.rawValue }
    switch integrity {
    case "good":
      return remarks == 0 ? "good" : "good, with \(Readable.count(remarks, "remark"))"
    case "damaged": return Readable.count(findings.count, "finding")
    default: return "not checked"
    }
  }

  private var entityTable: TextTable {
    var table = TextTable(["NUMBER", "ENTITY", "INHERITS", "ROWS", "HASH"])
    for entity in entities {
      let hash = entity.versionHash.flatMap { Data(base64Encoded: $0) }?.prefix(6)
        .map { String(format: "%02x", $0) }.joined()
      table.add([
        .init(String(entity.number), isNumber: true),
        .init(entity.name + (entity.isAbstract == true ? " (abstract)" : "")),
        .init(entity.superentity ?? "-"),
        .init(entity.count.map(String.init) ?? "?", isNumber: true), .init(hash ?? "-"),
      ])
    }
    return table
  }

  private var findingTable: TextTable {
    var table = TextTable(["FINDING", "RULE", "PLACE", "WHAT"])
    for finding in findings {
      var place = finding.entity ?? finding.table ?? ""
      if let key = finding.key { place += "/p\(key)" }
      if let column = finding.column { place += place.isEmpty ? column : " \(column)" }
      let isDamage = finding.severity == StoreFinding.Severity.damage.rawValue
      table.add([
        .init(finding.severity, tone: isDamage ? .bad : .faint), .init(finding.rule),
        .init(place.isEmpty ? "-" : place), .init(finding.message),
      ])
    }
    return table
  }
}
