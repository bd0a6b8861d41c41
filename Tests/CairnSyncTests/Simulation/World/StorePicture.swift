import Foundation
import GRDB

/// All that an application can see of a store, read by plain SQL from the tables of the rows alone.
struct StorePicture: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var value: String?
    var other: Double?
    var extra: String?
    var parent: String?
    var label: String?
  }
  /// A tag or mark.
  struct Tag: Equatable, Sendable {
    var kind: String
    var note: String?
    var ink: String?
  }
  /// A leaf or bloom, with the texts and numbers that one write alone has brought.
  struct Leaf: Equatable, Sendable {
    var kind: String
    var value: String?
    var other: Double?
    var flag: Bool?
    var extra: String?
    var petal: String?
    var stem: String?
  }
  var items: [String: Item] = [:]
  var leaves: [String: Leaf] = [:]
  /// By name; a name has as many as there are rows.
  var tags: [String: [Tag]] = [:]
  /// By part, its item.
  var parts: [String: String?] = [:]
  /// `item tag`.
  var links: Set<String> = []
  /// The parts of an item, its picks, who picked a tag: in their order.
  var lists: [String: [String]] = [:]
  /// Titles of the entity that only a newer model has.
  var fresh: [String: String?] = [:]
  /// What no store may have: two rows of one key, an end without the other, holes in an order.
  var faults: [String] = []

  /// The strings and numbers that one write alone has brought.
  var values: Set<String> {
    var found: Set<String> = []
    for item in items.values {
      if let value = item.value { found.insert(value) }
      if let other = item.other { found.insert("\(other)") }
      if let extra = item.extra { found.insert(extra) }
    }
    for tag in tags.values.joined() { found.formUnion([tag.note, tag.ink].compactMap { $0 }) }
    for leaf in leaves.values {
      found.formUnion([leaf.value, leaf.extra, leaf.petal].compactMap { $0 })
      if let other = leaf.other { found.insert("\(other)") }
    }
    return found
  }

  /// By place, the string or number that one write alone has brought there.
  var written: [String: String] {
    var found: [String: String] = [:]
    for (key, item) in items {
      found["item \(key) value"] = item.value
      found["item \(key) other"] = item.other.map { "\($0)" }
      found["item \(key) extra"] = item.extra
    }
    for (name, tags) in tags {
      found["tag \(name) note"] = tags.first?.note
      found["tag \(name) ink"] = tags.first?.ink
    }
    for (key, leaf) in leaves {
      found["leaf \(key) value"] = leaf.value
      found["leaf \(key) other"] = leaf.other.map { "\($0)" }
      found["leaf \(key) extra"] = leaf.extra
      found["leaf \(key) petal"] = leaf.petal
    }
    return found
  }

  /// By place, the references and links that the oracle looks at.
  var references: [String: String] {
    var found: [String: String] = [:]
    for (key, item) in items { found["parent \(key)"] = item.parent }
    for (key, leaf) in leaves { found["stem \(key)"] = leaf.stem }
    for link in links { found["link \(link)"] = "yes" }
    return found
  }

  /// The keys of items and leaves, and the names of tags.
  var named: Set<String> { records.union(tags.keys) }

  /// The keys of items and leaves.
  var records: Set<String> { Set(items.keys).union(leaves.keys) }

  /// The same without what only a newer model has.
  var common: StorePicture {
    var copy = self
    for key in items.keys { copy.items[key]?.extra = nil }
    for key in leaves.keys { copy.leaves[key]?.extra = nil }
    copy.fresh = [:]
    return copy
  }

  /// What a link exchanges.
  func part(withLeaves: Bool) -> StorePicture {
    var copy = self
    if !withLeaves { copy.leaves = [:] }
    return copy
  }

  init() {}

  /// - Parameter folder: Where the files with large data are.
  init(_ database: Database, largeDataIn folder: URL) throws {
    let columns = Set(try Self.columns(of: "ZITEM", database))
    if columns.isEmpty { return }
    let hasText = columns.contains("ZTEXT")
    let hasExtra = columns.contains("ZEXTRA")
    var itemKeys: [Int64: String] = [:]
    var tagNames: [Int64: String] = [:]
    for row in try Row.fetchAll(database, sql: "SELECT * FROM ZITEM") {
      let key: String = row["ZKEY"] ?? "?"
      if items[key] != nil { faults.append("two items \(key)") }
      itemKeys[row["Z_PK"]] = key
      items[key] = Item(
        value: row[hasText ? "ZTEXT" : "ZVALUE"], other: row["ZOTHER"],
        extra: hasExtra ? row["ZEXTRA"] : nil)
    }
    for row in try Row.fetchAll(
      database,
      sql: "SELECT t.*, p.Z_NAME AS kind FROM ZTAG t LEFT JOIN Z_PRIMARYKEY p USING (Z_ENT)")
    {
      let name: String = row["ZNAME"] ?? "?"
      tagNames[row["Z_PK"]] = name
      tags[name, default: []].append(
        Tag(kind: row["kind"] ?? "?", note: row["ZNOTE"], ink: row["ZINK"]))
    }
    for (name, tags) in tags where tags.count > 1 { faults.append("\(tags.count) tags \(name)") }
    func name(_ key: Int64?, _ names: [Int64: String], _ what: String) -> String? {
      guard let key else { return nil }
      if let found = names[key] { return found }
      faults.append("\(what) leads to a row that is not there")
      return "missing"
    }
    for row in try Row.fetchAll(
      database,
      sql: "SELECT i.Z_PK, i.ZPARENT, i.ZLABEL, t.ZLABELLED AS back, t.Z_PK AS tag "
        + "FROM ZITEM i LEFT JOIN ZTAG t ON t.Z_PK = i.ZLABEL")
    {
      let pk: Int64 = row["Z_PK"]
      guard let key = itemKeys[pk] else { continue }
      items[key]?.parent = name(row["ZPARENT"], itemKeys, "the parent of \(key)")
      items[key]?.label = name(row["ZLABEL"], tagNames, "the label of \(key)")
      if row["ZLABEL"] != nil, row["back"] != pk {
        faults.append("the label of \(key) does not know it")
      }
    }
    for row in try Row.fetchAll(
      database,
      sql: "SELECT t.ZNAME, t.Z_PK AS pk, i.ZLABEL AS there FROM ZTAG t "
        + "LEFT JOIN ZITEM i ON i.Z_PK = t.ZLABELLED WHERE t.ZLABELLED IS NOT NULL")
    where row["there"] as Int64? != row["pk"] as Int64? {
      faults.append("what \(row["ZNAME"] as String? ?? "?") labels does not know it")
    }
    try readParts(database, itemKeys)
    try readLinks(database, itemKeys, tagNames)
    try readLeaves(database, folder)
    if try !Self.columns(of: "ZFRESH", database).isEmpty {
      for row in try Row.fetchAll(database, sql: "SELECT * FROM ZFRESH") {
        fresh[row["ZTITLE"] ?? "?"] = (row["ZITEM"] as Int64?).flatMap { itemKeys[$0] }
      }
    }
  }

  /// Asked anew each time: a store may have been migrated in between.
  private static func columns(of table: String, _ database: Database) throws -> [String] {
    try Row.fetchAll(database, sql: "PRAGMA table_info(\(table))").map { $0["name"] }
  }

  private mutating func readLeaves(_ database: Database, _ folder: URL) throws {
    let columns = Set(try Self.columns(of: "ZLEAF", database))
    if columns.isEmpty { return }
    var keys: [Int64: String] = [:]
    let rows = try Row.fetchAll(
      database,
      sql: "SELECT l.*, p.Z_NAME AS kind FROM ZLEAF l LEFT JOIN Z_PRIMARYKEY p USING (Z_ENT)")
    for row in rows {
      let key: String = row["ZKEY"] ?? "?"
      if leaves[key] != nil { faults.append("two leaves \(key)") }
      keys[row["Z_PK"]] = key
      let extra: String? = columns.contains("ZEXTRA") ? row["ZEXTRA"] : nil
      let leaf = Leaf(
        kind: row["kind"] ?? "?", value: row["ZVALUE"], other: row["ZOTHER"], flag: row["ZFLAG"],
        // No program writes the default.
        extra: extra == "" ? nil : extra, petal: row["ZPETAL"])
      leaves[key] = leaf
      // All of these were written in one save.
      let number = leaf.other
      if row["ZCOUNT"] as Int64? != number.map({ Int64($0) }) || row["ZMOMENT"] as Double? != number
        || Self.data(row["ZDATA"], folder) != number.map(SimulatedProgram.data)
        || (row["ZIDENT"] as Data?).map({ [UInt8]($0).suffix(6) })
          != number.map({ Self.lastBytes(ofIdent: $0) })
      {
        let others = row.filter { $0.0 != "ZDATA" }
        faults.append("the values of \(key) are of several writes: \(others)")
      }
    }
    for row in rows {
      guard let key = keys[row["Z_PK"]], let stem: Int64 = row["ZSTEM"] else { continue }
      leaves[key]?.stem = keys[stem] ?? "missing"
      if keys[stem] == nil { faults.append("the stem of \(key) leads to a row that is not there") }
    }
  }

  /// What a column with data stands for: after a 1 the data, after a 2 the name of its file.
  private static func data(_ column: Data?, _ folder: URL) -> Data? {
    switch column?.first {
    case 1: return column.map { Data($0.dropFirst()) }
    case 2:
      let name = column.map { String(decoding: $0.dropFirst().prefix { $0 != 0 }, as: UTF8.self) }
      return name.flatMap { try? Data(contentsOf: folder.appendingPathComponent($0)) }
    default: return column
    }
  }

  /// The last six bytes of the UUID that goes with a number: its decimal digits, two a byte.
  private static func lastBytes(ofIdent number: Double) -> ArraySlice<UInt8> {
    let digits = String(format: "%012d", Int(number))
    return stride(from: 0, to: 12, by: 2).map { place in
      let start = digits.index(digits.startIndex, offsetBy: place)
      return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
    }[...]
  }

  private mutating func readParts(_ database: Database, _ itemKeys: [Int64: String]) throws {
    var orders: [String: [Int64]] = [:]
    for row in try Row.fetchAll(
      database, sql: "SELECT * FROM ZPART ORDER BY ZITEM, Z_FOK_ITEM, Z_PK")
    {
      let key: String = row["ZKEY"] ?? "?"
      if parts[key] != nil { faults.append("two parts \(key)") }
      guard let item: Int64 = row["ZITEM"] else {
        parts[key] = .some(nil)
        continue
      }
      guard let owner = itemKeys[item] else {
        faults.append("the item of \(key) is not there")
        continue
      }
      parts[key] = owner
      lists["parts of \(owner)", default: []].append(key)
      guard let order: Int64 = row["Z_FOK_ITEM"] else {
        faults.append("\(key) has no place among the parts of \(owner)")
        continue
      }
      if orders[owner, default: []].contains(order) {
        faults.append("\(key) shares its place among the parts of \(owner)")
      }
      orders[owner, default: []].append(order)
    }
  }

  private mutating func readLinks(
    _ database: Database, _ itemKeys: [Int64: String], _ tagNames: [Int64: String]
  ) throws {
    let tables = try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
    for table in tables {
      let columns = try Self.columns(of: table, database)
      /// `Z_2ITEMS`, `Z_4TAGS1`, `Z_FOK_4PICKS`.
      func column(_ name: String, prefix: String = "Z_") -> String? {
        columns.first { column in
          guard column.hasPrefix(prefix) else { return false }
          let rest = column.dropFirst(prefix.count)
          guard rest.first?.isNumber == true else { return false }
          return rest.drop(while: \.isNumber).reversed().drop(while: \.isNumber).reversed()
            .elementsEqual(name)
        }
      }
      let isPicks = column("PICKS") != nil
      guard let items = column("ITEMS") ?? column("PICKEDBY"),
        let tags = column("TAGS") ?? column("PICKS")
      else { continue }
      let rows = try Row.fetchAll(database, sql: "SELECT * FROM \(table)")
      var places: [String: [(order: Int64?, name: String)]] = [:]
      for row in rows {
        guard let item = itemKeys[row[items]], let tag = tagNames[row[tags]] else {
          faults.append("a link in \(table) has no end")
          continue
        }
        if !isPicks {
          links.insert("\(item) \(tag)")
          continue
        }
        func order(_ ending: String) -> Int64? {
          column(ending, prefix: "Z_FOK_").flatMap { row[$0] }
        }
        places["picks of \(item)", default: []].append((order("PICKS"), tag))
        places["picked \(tag)", default: []].append((order("PICKEDBY"), item))
      }
      for (list, members) in places {
        if Set(members.map(\.order)).count < members.count
          || members.contains(where: { $0.order == nil })
        {
          faults.append("\(list) has no order: \(members)")
        }
        lists[list] = members.sorted { ($0.order ?? 0, $0.name) < ($1.order ?? 0, $1.name) }.map(
          \.name)
      }
    }
  }

  /// How two pictures differ, for people; empty when they do not.
  func differences(from other: StorePicture) -> [String] {
    func compare<Value: Equatable>(
      _ what: String, _ a: [String: Value], _ b: [String: Value]
    ) -> [String] {
      Set(a.keys).union(b.keys).sorted().filter { a[$0] != b[$0] }.map { key in
        let values = [a[key], b[key]].map { $0.map { "\($0)" } ?? "absent" }
        return "\(what) \(key): \(values[0]) / \(values[1])"
      }
    }
    return compare("item", items, other.items) + compare("tag", tags, other.tags)
      + compare("part", parts, other.parts) + compare("list", lists, other.lists)
      + compare("fresh", fresh, other.fresh) + compare("leaf", leaves, other.leaves)
      + links.symmetricDifference(other.links).sorted().map { "link \($0)" }
  }
}
