// The inventory of Core Data's interface, what proves that a symbol is there, and the ledger's text.

import Foundation

/// One symbol of Part II of the specification.
struct InventorySymbol {
  let chapter: String
  let owner: String
  let name: String
  /// A line of Swift that compiles when the symbol is there with its labels and types; or
  /// `out of scope:` and the reason.
  let check: String

  var reasonOutOfScope: String? {
    let mark = "out of scope: "
    return check.hasPrefix(mark) ? String(check.dropFirst(mark.count)) : nil
  }

  /// Whether the check is among those that compile.
  func isProven(by proofs: [String: String]) -> Bool {
    let key =
      check.hasPrefix("#expect")
      ? "constants" : String(owner.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    return proofs[key]?.contains(Ledger.squeezed(check)) ?? false
  }

  /// Whether the row is about the type itself.
  var isType: Bool { name == owner }

  /// The protocol or superclass of a row such as `NSFetchRequest: NSCopying`.
  var ancestor: String? {
    guard name.hasPrefix(owner + ": ") else { return nil }
    return String(name.dropFirst(owner.count + 2))
  }

  /// Words that a test that uses the symbol has: the last name, then the labels.
  var words: [String] {
    var text = name.hasPrefix(owner + ".") ? String(name.dropFirst(owner.count + 1)) : name
    if let space = text.firstIndex(of: " ") { text = String(text[..<space]) }
    guard let open = text.firstIndex(of: "(") else { return [text] }
    let base = String(text[..<open])
    let labels = text[text.index(after: open)...].dropLast()
      .split(separator: ":").map(String.init).filter { $0 != "_" }.map { "\($0):" }
    if base == "init" { return labels }
    return ["\(base)("] + labels
  }

  /// The owner under Apple's name and Cairn's.
  var ownerNames: [String] {
    let outer = owner.split(separator: ".").first.map(String.init) ?? owner
    return Self.names(of: outer)
  }

  static func names(of type: String) -> [String] {
    guard type.hasPrefix("NS") else { return [type] }
    let bare = String(type.dropFirst(2))
    return [type, bare, "Object" + bare]
  }

  /// What a test shows a protocol with.
  static let uses = [
    "NSCoding": "NSKeyedArchiver", "NSSecureCoding": "NSKeyedArchiver", "NSCopying": ".copy()",
    "NSLocking": ".unlock()", "NSFastEnumeration": ".makeIterator()",
  ]
}

/// A test as text: its own, and that of the classes, fixtures and stores for tests that it names.
struct TestText {
  let suite: String
  let name: String
  var body: String
  let file: String
  var title: String { "\(suite).\(name)" }
  /// The identifiers in the body.
  var identifiers: Set<Substring> = []

  func uses(_ symbol: InventorySymbol) -> Bool {
    if let ancestor = symbol.ancestor {
      let shows =
        InventorySymbol.uses[ancestor].map { [$0] } ?? InventorySymbol.names(of: ancestor)
      return symbol.ownerNames.contains { identifiers.contains($0[...]) }
        && shows.contains(where: body.contains)
    }
    if symbol.isType, !symbol.owner.contains(".") {
      return symbol.ownerNames.contains { identifiers.contains($0[...]) }
    }
    // A declaration has another name between a label and its colon.
    guard
      symbol.words.allSatisfy({
        body.contains($0) || ($0.hasSuffix(":") && body.contains($0.dropLast() + " "))
      })
    else { return false }
    if symbol.words.isEmpty { return symbol.ownerNames.contains { body.contains("\($0)(") } }
    // Plain names stand for themselves; members only where their type is spoken of.
    return symbol.owner == "globals" || symbol.ownerNames.contains(where: file.contains)
  }
}

struct Ledger {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let path = "Sources/CoreData/LEDGER.md"

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Every symbol, in the specification's order.
  static func inventory() throws -> [InventorySymbol] {
    try text("Tests/CairnTests/Inventory/Inventory.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .map { line in
        let parts = line.components(separatedBy: " | ")
        return InventorySymbol(
          chapter: parts[0], owner: parts[1], name: parts[2],
          check: parts[3...].joined(separator: " | "))
      }
  }

  /// What compiles only while the symbols in it are there, by owner, without white space; values of
  /// constants under `constants`.
  static func proofs() throws -> [String: String] {
    let folder = root.appendingPathComponent("Tests/CairnTests/Inventory")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    var found: [String: String] = [:]
    for name in names.sorted() where name.hasPrefix("Inventory") && name.hasSuffix(".swift") {
      let pieces = try text("Tests/CairnTests/Inventory/\(name)")
        .components(separatedBy: "private func uses_")
      for (number, piece) in pieces.enumerated() {
        var owner = number == 0 ? "constants" : String(piece.prefix { $0 != "(" })
        if owner.hasSuffix("_calls") { owner.removeLast("_calls".count) }
        if let last = owner.split(separator: "_").last, Int(last) != nil {
          owner.removeLast(last.count + 1)
        }
        found[owner, default: ""] += squeezed(piece)
      }
    }
    return found
  }

  static func squeezed(_ text: String) -> String {
    String(text.filter { !$0.isWhitespace && $0 != ";" }).replacingOccurrences(of: ",)", with: ")")
  }

  /// All tests of the repository but those of the inventory.
  static func tests() throws -> [TestText] {
    let folder = root.appendingPathComponent("Tests")
    guard let walker = FileManager.default.enumerator(atPath: folder.path) else { return [] }
    var found: [TestText] = []
    while let path = walker.nextObject() as? String {
      guard path.hasSuffix("Tests.swift"), !path.contains("Inventory") else { continue }
      found += tests(in: try text("Tests/" + path))
    }
    return try TestDeclarations(folder: folder).completing(found).sorted { $0.title < $1.title }
  }

  private static func tests(in file: String) -> [TestText] {
    let pieces = file.components(separatedBy: "@Test")
    var suite = ""
    var found: [TestText] = []
    for (number, piece) in pieces.enumerated() {
      if number > 0, let start = piece.range(of: "func "),
        let end = piece[start.upperBound...].firstIndex(where: { $0 == "(" || $0 == "<" })
      {
        let name = String(piece[start.upperBound..<end])
        found.append(TestText(suite: suite, name: name, body: piece, file: file))
      }
      for line in piece.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        guard let index = words.firstIndex(where: { $0 == "struct" || $0 == "class" }),
          index + 1 < words.count, !line.hasPrefix("  ")
        else { continue }
        suite = words[index + 1].filter { $0.isLetter || $0.isNumber || $0 == "_" }
      }
    }
    return found
  }

  // MARK: Text

  struct Row {
    let symbol: InventorySymbol
    let status: String
    let shownBy: String
    var line: String { "| `\(symbol.name)` | \(status) | \(shownBy) |" }
  }

  /// The rows as they have to be; the tests named so far are kept where they are still right.
  static func rows(keeping old: [String: String]) throws -> [Row] {
    let proofs = try proofs()
    let tests = try tests()
    let byTitle = Dictionary(tests.map { ($0.title, $0) }, uniquingKeysWith: { first, _ in first })
    return try inventory().map { symbol in
      if let reason = symbol.reasonOutOfScope {
        return Row(symbol: symbol, status: "out of scope", shownBy: reason)
      }
      guard symbol.isProven(by: proofs) else {
        return Row(symbol: symbol, status: "missing", shownBy: "")
      }
      if symbol.check.hasPrefix("#expect") {
        return Row(
          symbol: symbol, status: "done", shownBy: "constants of chapter \(symbol.chapter)")
      }
      if let title = old[symbol.name], byTitle[title]?.uses(symbol) ?? false {
        return Row(symbol: symbol, status: "done", shownBy: title)
      }
      return Row(
        symbol: symbol, status: "done",
        shownBy: tests.first { $0.uses(symbol) }?.title ?? "compiled")
    }
  }

  static func text(of rows: [Row]) -> String {
    var lines = [
      "# Ledger of Core Data's interface", "",
      "Every symbol of the specification's inventory (Part II), checked by `LedgerTests`.", "",
      "- **done**: the symbol exists in the module `CoreData` under this name, with these labels and",
      "  types. A line in `Tests/CairnTests/Inventory` compiles only while it does. The last column",
      "  names a test that uses it, itself or through a type that it names; says `constants` where a",
      "  test in `Inventory` compares the value with Apple's; or `compiled` where none does yet.",
      "- **missing**: not built yet.", "- **out of scope**: not on Linux, with the reason.", "",
      "To change it: put the symbol's line from `Inventory.txt` into a file `Inventory*.swift`, and run",
      "the tests with `RECORD_LEDGER=1`.", "",
      "| Chapter | Done | Missing | Out of scope |", "|---|---|---|---|",
    ]
    var chapters: [String] = []
    for row in rows where !chapters.contains(row.symbol.chapter) {
      chapters.append(row.symbol.chapter)
    }
    func count(_ status: String, _ chapter: String?) -> Int {
      rows.filter { $0.status == status && (chapter == nil || $0.symbol.chapter == chapter) }.count
    }
    for chapter in chapters.map(Optional.some) + [nil] {
      let counts = ["done", "missing", "out of scope"].map { "\(count($0, chapter))" }
      lines.append("| \(chapter ?? "all") | \(counts.joined(separator: " | ")) |")
    }
    for chapter in chapters {
      lines += ["", "## \(chapter)", "", "| Symbol | Status | Shown by |", "|---|---|---|"]
      lines += rows.filter { $0.symbol.chapter == chapter }.map(\.line)
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
