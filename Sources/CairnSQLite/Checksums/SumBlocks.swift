import CairnModel

/// Writes the sums of one table's rows: those of 32 rows whose keys follow one another are one record.
///
/// A record of its own for every row would cost more than computing its sum.
struct SumBlocks {
  /// How many bits of a key tell its place in the block.
  private static let bits: Int64 = 5
  /// How many sums a block has.
  static let count = 1 << Int(bits)

  /// What stands for the table in the sums.
  private let table: Int64
  /// The keys of the rows that were written.
  private let ranges: [ClosedRange<Int64>]
  /// The range that was looked at last.
  private var place = 0
  private let connection: SQLiteConnection
  /// Looked up when they are needed for the first time.
  private var find, put, remove: SQLiteStatement?
  /// The block at hand; nil for none.
  private var number: Int64?
  /// Its sums, 0 for rows that are not there, with their low bytes first.
  private var sums = [Int64](repeating: 0, count: count)
  private var isStored = false
  /// The keys of blocks whose record was of another size, and was not made anew from all its rows.
  private(set) var damaged: [ClosedRange<Int64>] = []

  init(of table: Int64, _ keys: KeyRuns, _ connection: SQLiteConnection) {
    self.table = table
    self.connection = connection
    ranges = keys.ranges
  }

  fileprivate static func block(of key: Int64) -> Int64 { key >> bits }
  private static func place(of key: Int64) -> Int { Int(key & (1 << bits - 1)) }
  /// The first key of a block, and the last.
  private static func first(of block: Int64) -> Int64 { block << bits }
  private static func last(of block: Int64) -> Int64 { block << bits | (1 << bits - 1) }
  /// All keys of a block.
  static func keys(of block: Int64) -> ClosedRange<Int64> { first(of: block)...last(of: block) }
  /// A key by its block and its place there.
  static func key(_ block: Int64, _ place: Int) -> Int64 { first(of: block) | Int64(place) }

  // MARK: Changing

  /// Takes away the sums of all keys: some of the rows may be gone.
  mutating func clear() throws {
    for range in ranges {
      let (first, last) = (Self.block(of: range.lowerBound), Self.block(of: range.upperBound))
      let firstWhole = Self.isWhole(first, in: range) ? first : first + 1
      let lastWhole = Self.isWhole(last, in: range) ? last : last - 1
      if firstWhole <= lastWhole { try remove(firstWhole...lastWhole) }
      if first < firstWhole { try clear(first, in: range) }
      if lastWhole < last, first < last { try clear(last, in: range) }
    }
    try finish()
  }

  private mutating func clear(_ block: Int64, in range: ClosedRange<Int64>) throws {
    try open(block)
    let first = max(range.lowerBound, Self.first(of: block))
    let last = min(range.upperBound, Self.last(of: block))
    for place in Self.place(of: first)...Self.place(of: last) { sums[place] = 0 }
  }

  /// Sets the sum of a row that is there; keys come in ascending order.
  mutating func set(_ key: Int64, to sum: Int64) throws {
    let block = Self.block(of: key)
    if block != number {
      while place < ranges.count - 1, ranges[place].upperBound < key { place += 1 }
      // Each of its rows was written: it is made anew.
      let isNew = place < ranges.count && Self.isWhole(block, in: ranges[place])
      try open(block, isNew: isNew)
    }
    sums[Self.place(of: key)] = sum.littleEndian
  }

  /// Writes what is left.
  mutating func finish() throws {
    try write()
    number = nil
  }

  /// Whether a range has every key of a block.
  private static func isWhole(_ block: Int64, in range: ClosedRange<Int64>) -> Bool {
    range.lowerBound <= first(of: block) && last(of: block) <= range.upperBound
  }

  // MARK: Blocks

  private mutating func open(_ block: Int64, isNew: Bool = false) throws {
    if block == number { return }
    try write()
    number = block
    isStored = false
    for place in sums.indices { sums[place] = 0 }
    if isNew { return }
    let find =
      try find
      ?? connection.statement("SELECT S FROM \(ChecksumTable.name) WHERE E = ?1 AND K = ?2")
    self.find = find
    find.bind(table, at: 1)
    find.bind(block, at: 2)
    if try find.step() {
      isStored = true
      let stored = find.bytes(0)
      let isWhole = sums.withUnsafeMutableBytes { sums in
        if sums.count == stored.count { sums.copyMemory(from: stored) }
        return sums.count == stored.count
      }
      if !isWhole { damaged.append(Self.keys(of: block)) }
    }
    find.reset()
  }

  private mutating func write() throws {
    guard let number else { return }
    if sums.allSatisfy({ $0 == 0 }) {
      if isStored { try remove(number...number) }
      return
    }
    let put =
      try put
      ?? connection.statement(
        "INSERT OR REPLACE INTO \(ChecksumTable.name) (E, K, S) VALUES (?1, ?2, ?3)")
    self.put = put
    put.bind(table, at: 1)
    put.bind(number, at: 2)
    try sums.withUnsafeBytes { bytes in
      put.bindInPlace(bytes, at: 3)
      // The bytes may be gone after this.
      defer { put.reset() }
      try put.run()
    }
  }

  private mutating func remove(_ blocks: ClosedRange<Int64>) throws {
    let remove =
      try remove
      ?? connection.statement(
        "DELETE FROM \(ChecksumTable.name) WHERE E = ?1 AND K BETWEEN ?2 AND ?3")
    self.remove = remove
    remove.bind(table, at: 1)
    remove.bind(blocks.lowerBound, at: 2)
    remove.bind(blocks.upperBound, at: 3)
    try remove.run()
  }
}

/// The sums of one table's rows that are stored, in the order of their keys.
struct StoredSums {
  private let blocks: SQLiteStatement
  private var number: Int64 = 0
  private var sums: [Int64] = []
  private var next = 0
  /// Blocks whose record is of another size, which says nothing of any row.
  private var damaged: Set<Int64> = []

  /// Call ``end()`` when no more are wanted.
  init(of table: Int64, _ connection: SQLiteConnection) throws {
    blocks = try connection.statement(
      "SELECT K, S FROM \(ChecksumTable.name) WHERE E = ?1 ORDER BY K")
    blocks.bind(table, at: 1)
  }

  func end() { blocks.reset() }

  /// Whether the record of a key is damaged; known of keys up to that of the sum that came last.
  func isDamaged(_ key: Int64) -> Bool { damaged.contains(SumBlocks.block(of: key)) }

  /// The keys whose records were found to be damaged, in ascending order.
  var damagedKeys: [ClosedRange<Int64>] { damaged.sorted().map(SumBlocks.keys) }

  mutating func nextSum() throws -> (key: Int64, sum: Int64)? {
    while true {
      while next < sums.count {
        defer { next += 1 }
        if sums[next] != 0 { return (SumBlocks.key(number, next), Int64(littleEndian: sums[next])) }
      }
      guard try blocks.step() else { return nil }
      number = blocks.integer(0)
      next = 0
      let stored = blocks.bytes(1)
      guard stored.count == SumBlocks.count * 8 else {
        sums = []
        damaged.insert(number)
        continue
      }
      sums = (0..<SumBlocks.count).map { stored.number(at: $0 * 8) }
    }
  }
}
