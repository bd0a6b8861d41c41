import CairnModel
import Foundation

/// What a store keeps about one record beside its row: which object it is, the write of each
/// property, and the values that the row cannot show.
struct RecordEntry: Hashable, Sendable {
  var entity: String
  /// The object's key in this store; nil when there is no object.
  var key: ObjectKey?
  /// The write of every property without one of its own.
  var base: PropertyWrite?
  var writes: [String: PropertyWrite] = [:]
  /// Values in place of those in the row: references whose target is not here, properties that
  /// this model does not know, and everything of a record without an object.
  var overlay: [String: WireValue] = [:]
  var deletion: Deletion?
  var survivor: RecordID?
  /// The record's place in the change order, 0 for none.
  var sequence: UInt64 = 0

  init(entity: String, key: ObjectKey?) {
    self.entity = entity
    self.key = key
  }

  func write(of property: String) -> PropertyWrite? {
    writes.isEmpty ? base : writes[property] ?? base
  }

  /// The state, given the values of the row (nil when there is no object).
  func state(id: RecordID, row: RowValues?) -> RecordState {
    var state = RecordState(id: id, entity: entity, deletion: deletion, survivor: survivor)
    if let row, let base, writes.isEmpty, overlay.isEmpty {
      // The usual case: all was written at once, and the row shows it.
      state.registers = Registers(row, write: base)
      return state
    }
    if let row {
      state.registers = Registers(columns: row.columns)
      for (place, name) in row.columns.names.enumerated() {
        guard let value = row.values[place], let write = write(of: name) else { continue }
        // A row that shows a reference beside the one that waits was written since, past history perhaps. An attribute
        // waits only until it is shown: what its row has is what a migration gave it along with the column, a default,
        // or what the store had derived.
        let isAttribute = value.reference == nil && overlay[name]?.reference == nil
        let isKept = isAttribute || row.columns.isUnwritten(value, at: place)
        let waiting = isKept ? overlay[name] : nil
        state.registers.set(place, waiting ?? value, write)
      }
    }
    for (name, value) in overlay where row?[name] == nil {
      guard let write = write(of: name) else { continue }
      state.registers[name] = Register(value: value, write: write)
    }
    return state
  }

  /// Takes over the writes, deletion and survivor of a state; overlay and key are the caller's.
  mutating func takeWrites(from state: RecordState) {
    entity = state.entity
    deletion = state.deletion
    survivor = state.survivor
    writes = [:]
    // Most often all of a record was written at once.
    base = state.registers.onlyWrite
    if base != nil || state.registers.isEmpty { return }
    var counts: [PropertyWrite: Int] = [:]
    for (_, register) in state.registers { counts[register.write, default: 0] += 1 }
    base = counts.max { ($0.value, $1.key.stamp) < ($1.value, $0.key.stamp) }?.key
    for (name, register) in state.registers where register.write != base {
      writes[name] = register.write
    }
  }

  // Bytes: version 1 · entity string · key (0 none, 1 row 8, 2 reference string) · flags
  // (1 base, 2 deletion, 4 survivor, 8 × the delete's policy) · [base write] · [deletion stamp, seen] · [survivor 16] ·
  // sequence 8 · distinct writes · own writes (name, index) · overlay (name, value)
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.string(entity)
    switch key {
    case .row(let number):
      writer.byte(1)
      writer.fixed(UInt64(bitPattern: number))
    case .reference(let text):
      writer.byte(2)
      writer.string(text)
    case .temporary, nil: writer.byte(0)
    }
    writer.byte(
      (base == nil ? 0 : 1) | (deletion == nil ? 0 : 2) | (survivor == nil ? 0 : 4)
        | (deletion?.policyNumber ?? 0) << 3)
    if let base { writer.write(base) }
    if let deletion {
      writer.stamp(deletion.stamp)
      writer.seen(deletion.seen)
    }
    if let survivor { writer.identity(survivor) }
    writer.fixed(sequence)
    let own = writes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    var numbers: [PropertyWrite: Int] = [:]
    var distinct: [PropertyWrite] = []
    for (_, write) in own where numbers[write] == nil {
      numbers[write] = distinct.count
      distinct.append(write)
    }
    writer.count(distinct.count)
    for write in distinct { writer.write(write) }
    writer.count(own.count)
    for (name, write) in own {
      writer.string(name)
      writer.count(numbers[write] ?? 0)
    }
    writer.count(overlay.count)
    for (name, value) in overlay.sorted(by: {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }) {
      writer.string(name)
      writer.value(value)
    }
    return writer.data
  }

  /// Whether a record has a row, by the first of its bytes.
  static func hasRow(_ encoded: Data) throws -> Bool {
    var reader = ByteReader(encoded)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    _ = try reader.string()
    return try reader.byte() != 0
  }

  /// Where in ``encoded`` the number of the row stands, for records of an entity.
  static func placeOfRowKey(in entity: String) -> Int {
    var writer = ByteWriter()
    writer.byte(1)
    writer.string(entity)
    writer.byte(1)
    return writer.data.count
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    entity = try reader.string()
    switch try reader.byte() {
    case 0: key = nil
    case 1: key = .row(Int64(bitPattern: try reader.fixed()))
    case 2: key = .reference(try reader.string())
    default: throw ByteReader.damaged
    }
    let flags = try reader.byte()
    guard flags <= 31, flags & 2 != 0 || flags <= 7 else { throw ByteReader.damaged }
    if flags & 1 != 0 { base = try reader.write() }
    if flags & 2 != 0 { deletion = try reader.deletion(policyNumber: flags >> 3) }
    if flags & 4 != 0 { survivor = try reader.identity(RecordID.self) }
    sequence = try reader.fixed()
    var distinct: [PropertyWrite] = []
    for _ in 0..<(try reader.count()) { distinct.append(try reader.write()) }
    for _ in 0..<(try reader.count()) {
      let name = try reader.string()
      let number = try reader.varint()
      guard number < UInt64(distinct.count) else { throw ByteReader.damaged }
      writes[name] = distinct[Int(number)]
    }
    for _ in 0..<(try reader.count()) {
      let name = try reader.string()
      overlay[name] = try reader.value()
    }
  }
}

/// What a store keeps about one link.
struct LinkEntry: Hashable, Sendable {
  var state: LinkState
  var sequence: UInt64 = 0

  // Bytes: sequence 8 · link state (see ChangeSetCoding)
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(sequence)
    writer.linkState(state)
    return writer.data
  }
  init(state: LinkState) { self.state = state }
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    sequence = try reader.fixed()
    state = try reader.linkState()
  }
}
