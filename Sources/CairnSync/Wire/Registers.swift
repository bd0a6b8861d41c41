/// The registers of one record by property.
///
/// The values of an entity's columns lie in one array, and most often one write has put all of them there;
/// what belongs to no column, such as a place in a list or a property of a newer model, is kept by name.
public struct Registers: Sendable {
  /// Whose order the values are in.
  private var columns: ColumnNames
  /// By column; nil for a property without a register.
  private var values: [WireValue?]
  /// How many of the values there are.
  private var valueCount = 0
  /// The write of each value without one of its own.
  private var base: PropertyWrite?
  private var own: [Int: PropertyWrite] = [:]
  private var others: [String: Register] = [:]

  public init() { self.init(columns: .none) }

  init(columns: ColumnNames) {
    self.columns = columns
    values = [WireValue?](repeating: nil, count: columns.names.count)
  }

  /// A row as one write put it there.
  init(_ row: RowValues, write: PropertyWrite) {
    columns = row.columns
    values = row.values
    valueCount = values.count { $0 != nil }
    base = write
  }

  // MARK: Reading

  public var count: Int { valueCount + others.count }
  public var isEmpty: Bool { valueCount == 0 && others.isEmpty }

  /// The register of a property.
  public subscript(name: String) -> Register? {
    get {
      guard let place = columns.place(of: name) else { return others[name] }
      return self[place]
    }
    set {
      if let place = columns.place(of: name) {
        set(place, newValue)
      } else {
        others[name] = newValue
      }
    }
  }

  private subscript(place: Int) -> Register? {
    guard let value = values[place], let write = own[place] ?? base else { return nil }
    return Register(value: value, write: write)
  }

  /// The value of a column of `columns`: found without its name where the registers are in that order.
  func value(_ place: Int, in columns: ColumnNames) -> WireValue? {
    self.columns === columns ? values[place] : self[columns.names[place]]?.value
  }

  /// The values of what is no column of `columns`, by name.
  func valuesBeside(_ columns: ColumnNames) -> [String: WireValue] {
    var found: [String: WireValue] = [:]
    if self.columns !== columns {
      for place in values.indices where columns.place(of: self.columns.names[place]) == nil {
        found[self.columns.names[place]] = values[place]
      }
    }
    for (name, register) in others where columns.place(of: name) == nil {
      found[name] = register.value
    }
    return found
  }

  public var names: [String] { map(\.key) }
  /// The registers as a dictionary, for work on few records.
  public var byName: [String: Register] {
    Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) })
  }

  /// The one write that has put everything there; nil where there are several, or none.
  var onlyWrite: PropertyWrite? {
    own.isEmpty && others.isEmpty && valueCount > 0 ? base : nil
  }

  /// The values of an entity's columns in their order; nil where one is missing, or there are others.
  func allValues(in columns: ColumnNames) -> [WireValue?]? {
    guard others.isEmpty, valueCount == columns.names.count, self.columns.isSame(as: columns) else {
      return nil
    }
    return values
  }

  /// Whether a write among those of the registers is as it is asked for.
  func hasWrite(where isWanted: (PropertyWrite) -> Bool) -> Bool {
    if let base, valueCount > own.count, isWanted(base) { return true }
    return own.values.contains(where: isWanted)
      || others.values.contains { isWanted($0.write) }
  }

  /// The greatest reading among the writes; nil without registers.
  var latestReading: ClockReading? {
    var latest = valueCount > own.count ? base?.stamp.clock : nil
    for write in own.values { latest = Swift.max(latest ?? write.stamp.clock, write.stamp.clock) }
    for register in others.values {
      latest = Swift.max(latest ?? register.write.stamp.clock, register.write.stamp.clock)
    }
    return latest
  }

  /// Calls a closure with each property, its value and the write that put it there, in no order.
  func visit(_ body: (String, WireValue, PropertyWrite) throws -> Void) rethrows {
    for place in values.indices {
      guard let value = values[place], let write = own.isEmpty ? base : own[place] ?? base else {
        continue
      }
      try body(columns.names[place], value, write)
    }
    for (name, register) in others { try body(name, register.value, register.write) }
  }

  /// Calls a closure with each record that a value refers to.
  func forEachReference(_ body: (RecordID) -> Void) {
    for case .reference(let id)? in values { body(id) }
    for register in others.values { if let id = register.value.reference { body(id) } }
  }

  // MARK: Changing

  private mutating func set(_ place: Int, _ register: Register?) {
    guard let register else {
      if values[place] != nil { valueCount -= 1 }
      values[place] = nil
      own[place] = nil
      return
    }
    set(place, register.value, register.write)
  }

  mutating func set(_ place: Int, _ value: WireValue, _ write: PropertyWrite) {
    if values[place] == nil { valueCount += 1 }
    values[place] = value
    if base == nil || valueCount == 1 && own.isEmpty { base = write }
    if base == write {
      if !own.isEmpty { own[place] = nil }
    } else {
      own[place] = write
    }
  }

  /// Takes over the registers of another record or state; where both have one, `combine` gives what is to be.
  mutating func merge(_ other: Registers, _ combine: (Register, Register) -> Register) {
    if isEmpty {
      self = other
      return
    }
    if columns.names.isEmpty { self = arranged(by: other.columns) }
    guard columns === other.columns else {
      for (name, register) in other {
        self[name] = self[name].map { combine($0, register) } ?? register
      }
      return
    }
    for place in other.values.indices {
      guard let theirs = other[place] else { continue }
      set(place, self[place].map { combine($0, theirs) } ?? theirs)
    }
    others.merge(other.others, uniquingKeysWith: combine)
  }

  /// The same registers, with the values of an entity's columns in the order of that entity.
  func arranged(by columns: ColumnNames) -> Registers {
    if self.columns === columns { return self }
    if self.columns.names == columns.names {
      var same = self
      same.columns = columns
      return same
    }
    var arranged = Registers(columns: columns)
    for (name, register) in self { arranged[name] = register }
    return arranged
  }

  /// The registers under other names; of two that get the same one, the first stays.
  func renamed(_ name: (String) -> String) -> Registers {
    var renamed = Registers(columns: columns)
    for (old, register) in self {
      let new = name(old)
      if renamed[new] == nil { renamed[new] = register }
    }
    return renamed
  }
}

extension Registers: Sequence {
  public typealias Element = (key: String, value: Register)

  /// Column by column, then what belongs to none.
  public func makeIterator() -> IndexingIterator<[Element]> {
    var all: [Element] = []
    all.reserveCapacity(count)
    for place in values.indices {
      if let register = self[place] { all.append((columns.names[place], register)) }
    }
    for (name, register) in others { all.append((name, register)) }
    return all.makeIterator()
  }

  public var underestimatedCount: Int { count }
}

extension Registers: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Register)...) {
    self.init()
    for (name, register) in elements { self[name] = register }
  }
}

extension Registers: Hashable {
  public static func == (a: Registers, b: Registers) -> Bool {
    guard a.count == b.count else { return false }
    if a.columns.isSame(as: b.columns), a.own == b.own,
      a.base == b.base || a.valueCount == a.own.count
    {
      return a.values == b.values && a.others == b.others
    }
    return a.allSatisfy { b[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(byName) }
}
