import Foundation

// Byte form of a change set, canonical: entries are sorted, equal sets give equal bytes.
//   version 1 · source 16 · after 8 · upTo 8 · count, records · count, links
// record: ID 16 · entity string · flags (1 deleted, 2 united, 4 × the delete's policy) · [stamp, seen] · [survivor 16] ·
//   count of distinct writes, each (stamp, seen) · count of properties, each (name, index of the
//   write, value), by name
// link: relationship string · owner 16 · member 16 · link state
// link state: stamp · flags (1 is a member, 2 position in the owner's list, 4 position in the
//   member's list, 8 seen) · [seen] · [position in the owner's list] · [in the member's list]
// position: stamp · seen · key (data)
// The position in an ordered one-to-many relationship is a property of the member, named by its
// to-one relationship and `#position`, with the key as data.
extension ByteWriter {
  public mutating func record(_ state: RecordState) {
    identity(state.id)
    string(state.entity)
    byte(
      (state.deletion == nil ? 0 : 1) | (state.survivor == nil ? 0 : 2)
        | (state.deletion?.policyNumber ?? 0) << 2)
    if let deletion = state.deletion {
      stamp(deletion.stamp)
      seen(deletion.seen)
    }
    if let survivor = state.survivor { identity(survivor) }
    let registers = state.registers.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    var numbers: [PropertyWrite: Int] = [:]
    var writes: [PropertyWrite] = []
    for (_, register) in registers where numbers[register.write] == nil {
      numbers[register.write] = writes.count
      writes.append(register.write)
    }
    count(writes.count)
    for item in writes { write(item) }
    count(registers.count)
    for (name, register) in registers {
      string(name)
      count(numbers[register.write] ?? 0)
      value(register.value)
    }
  }

  public mutating func link(_ link: LinkChange) {
    string(link.key.relationship)
    identity(link.key.owner)
    identity(link.key.member)
    linkState(link.state)
  }

  mutating func linkState(_ state: LinkState) {
    let hasSeen = !state.write.seen.readings.isEmpty
    stamp(state.stamp)
    byte(
      (state.isMember ? 1 : 0) | (state.memberPosition == nil ? 0 : 2)
        | (state.ownerPosition == nil ? 0 : 4) | (hasSeen ? 8 : 0))
    if hasSeen { seen(state.write.seen) }
    for position in [state.memberPosition, state.ownerPosition].compactMap({ $0 }) {
      write(position.write)
      if case .data(let key) = position.value { bytes(key) } else { bytes(Data()) }
    }
  }
}

extension ByteReader {
  public mutating func record() throws -> RecordState {
    let id = try identity(RecordID.self)
    var state = RecordState(id: id, entity: try string())
    let flags = try byte()
    // What is not deleted has no policy.
    guard flags <= 15, flags & 1 != 0 || flags <= 3 else { throw Self.damaged }
    if flags & 1 != 0 { state.deletion = try deletion(policyNumber: flags >> 2) }
    if flags & 2 != 0 { state.survivor = try identity(RecordID.self) }
    var writes: [PropertyWrite] = []
    for _ in 0..<(try count()) { writes.append(try write()) }
    for _ in 0..<(try count()) {
      let name = try string()
      let number = try varint()
      guard number < UInt64(writes.count) else { throw Self.damaged }
      state.registers[name] = Register(value: try value(), write: writes[Int(number)])
    }
    return state
  }

  /// - Parameter policyNumber: As it was read, where it can be anything.
  mutating func deletion(policyNumber: UInt8) throws -> Deletion {
    let policies = DeleteConflictPolicy.allCases
    guard Int(policyNumber) <= policies.count else { throw Self.damaged }
    let stamp = try stamp()
    return Deletion(
      stamp: stamp, seen: try seen(),
      policy: policyNumber == 0 ? nil : policies[Int(policyNumber) - 1])
  }

  public mutating func link() throws -> LinkChange {
    let relationship = try string()
    let owner = try identity(RecordID.self)
    let member = try identity(RecordID.self)
    return LinkChange(
      key: LinkKey(relationship: relationship, owner: owner, member: member),
      state: try linkState())
  }

  mutating func linkState() throws -> LinkState {
    let stamp = try stamp()
    let flags = try byte()
    guard flags <= 15 else { throw Self.damaged }
    let seen = flags & 8 == 0 ? SeenWrites() : try seen()
    var state = LinkState(
      write: PropertyWrite(stamp: stamp, seen: seen), isMember: flags & 1 != 0)
    if flags & 2 != 0 { state.memberPosition = try position() }
    if flags & 4 != 0 { state.ownerPosition = try position() }
    return state
  }

  private mutating func position() throws -> Register {
    let write = try write()
    return Register(value: .data(try data()), write: write)
  }
}

extension Deletion {
  /// The policy as it is stored and travels: 0 for none.
  var policyNumber: UInt8 {
    policy.flatMap(DeleteConflictPolicy.allCases.firstIndex).map { UInt8($0 + 1) } ?? 0
  }
}

extension ChangeSet {
  /// The canonical bytes.
  public func encoded() -> Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.identity(source)
    writer.fixed(after)
    writer.fixed(upTo)
    writer.count(records.count)
    for record in records.sorted(by: { $0.id < $1.id }) { writer.record(record) }
    writer.count(links.count)
    for link in links.sorted(by: { $0.key < $1.key }) { writer.link(link) }
    return writer.data
  }

  /// Reads ``encoded()``.
  ///
  /// - Throws: ``SyncError`` when the bytes are anything else.
  public init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    let source = try reader.identity(StoreID.self)
    let after = try reader.fixed()
    let upTo = try reader.fixed()
    var records: [RecordState] = []
    for _ in 0..<(try reader.count()) { records.append(try reader.record()) }
    var links: [LinkChange] = []
    for _ in 0..<(try reader.count()) { links.append(try reader.link()) }
    guard reader.isAtEnd else { throw ByteReader.damaged }
    self.init(source: source, after: after, upTo: upTo, records: records, links: links)
  }
}
