import CairnModel
import CairnStore
import Foundation

/// Collects why a record's values are what they are.
struct ExplanationReading {
  let group: GroupStores
  /// The store whose values are explained: the local one where it knows the record.
  let base: GroupStores.Member
  let ledger: Ledger
  /// The states of the records concerned, by store.
  private var states: [String: [RecordID: RecordState]] = [:]
  private var journal: [JournaledConflict] = []
  private var authorship: AuthorshipSearch
  /// How many members of one relationship are explained.
  static let most = 100

  init(_ base: GroupStores.Member, in group: GroupStores) throws {
    self.group = group
    self.base = base
    authorship = AuthorshipSearch(group)
    ledger = try base.access.ledger()
  }

  // MARK: What makes up a property

  /// A register, or the membership or a place of a link.
  enum Subject: Hashable {
    case register(RecordID, String)
    case link(LinkKey, near: RecordID, name: String, isPlace: Bool)

    var record: RecordID {
      switch self {
      case .register(let id, _): id
      case .link(_, let near, _, _): near
      }
    }
    var property: String {
      switch self {
      case .register(_, let name): name
      case .link(_, _, let name, let isPlace): isPlace ? name + SyncSchema.positionSuffix : name
      }
    }
    var member: RecordID? {
      guard case .link(let key, let near, _, _) = self else { return nil }
      return key.owner == near ? key.member : key.owner
    }
    var isLink: Bool { member != nil }
    var isPlace: Bool {
      guard case .link(_, _, _, let isPlace) = self else { return false }
      return isPlace
    }
  }

  /// - Parameter property: In the names of the base store; nil for all that the record itself has.
  /// - Throws: ``SyncError`` with `noSuchProperty`.
  func subjects(
    of id: RecordID, _ state: RecordState, property: String?
  ) throws -> (found: [Subject], hasMore: Bool) {
    guard let property else {
      return (state.registers.names.sorted().map { .register(id, $0) }, false)
    }
    if state.registers[property] != nil { return ([.register(id, property)], false) }
    guard let plan = base.access.schema.entities[state.entity] else {
      throw noSuchProperty(property, state.entity, state.registers.names)
    }
    if plan.names.place(of: property) != nil { return ([], false) }
    let suffix = SyncSchema.positionSuffix
    let name = property.hasSuffix(suffix) ? String(property.dropLast(suffix.count)) : property
    if let side = plan.linkSides.first(where: { $0.relationship.name == name }) {
      return try linkSubjects(of: id, side, name, onlyPlaces: name != property)
    }
    guard let relationship = plan.entity.relationshipsByName[name],
      let inverse = relationship.inverseRelationship, !inverse.isToMany
    else {
      let known = plan.columns.map(\.name) + plan.linkSides.map(\.relationship.name)
      throw noSuchProperty(property, state.entity, known)
    }
    return try memberSubjects(of: id, relationship, inverse)
  }

  private func linkSubjects(
    of id: RecordID, _ side: SyncSchema.LinkSide, _ name: String, onlyPlaces: Bool
  ) throws -> ([Subject], Bool) {
    let keys = try ledger.links(of: id, side)
    var found: [Subject] = []
    for key in keys.prefix(Self.most) {
      if !onlyPlaces { found.append(.link(key, near: id, name: name, isPlace: false)) }
      if side.relationship.isOrdered {
        found.append(.link(key, near: id, name: name, isPlace: true))
      }
    }
    return (found, keys.count > Self.most)
  }

  /// The references of members make the relationship.
  private func memberSubjects(
    of id: RecordID, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription
  ) throws -> ([Subject], Bool) {
    guard let object = try ledger.record(id).flatMap({ ledger.objectID(for: $0) }) else {
      return ([], false)
    }
    let objects: [ManagedObjectID]
    if relationship.isToMany {
      objects = try base.access.store.members(of: relationship, owners: [object]).first ?? []
    } else {
      let row = try base.access.store.snapshots(for: [object]).first ?? nil
      guard let slot = object.entity.layout.slotByName[relationship.name],
        case .object(let target)? = row?[slot]
      else { return ([], false) }
      objects = [target]
    }
    var found: [Subject] = []
    for member in objects.prefix(Self.most) {
      guard let memberID = try ledger.recordID(for: member) else { continue }
      found.append(.register(memberID, inverse.name))
      if relationship.isOrdered {
        found.append(.register(memberID, inverse.name + SyncSchema.positionSuffix))
      }
    }
    return (found, objects.count > Self.most)
  }

  private func noSuchProperty(
    _ name: String, _ entity: String, _ known: [String]
  ) -> SyncError {
    SyncError(
      .noSuchProperty,
      "\(entity) has no property \(name) that travels; there is \(known.sorted().joined(separator: ", "))",
      recovery: .person)
  }

  // MARK: Explaining

  /// Reads what the explanations need of all stores.
  mutating func prepare(_ subjects: [Subject], of id: RecordID) throws {
    var wanted = Set(subjects.map(\.record))
    wanted.insert(id)
    for member in group.members {
      states[member.name] = try RecordReading(member).states(of: wanted)
    }
    var reading = try JournalReading(group.members, of: wanted)
    while let item = try reading.next() {
      if let conflict = group.conflict(item) { journal.append(conflict) }
    }
  }

  mutating func explain(_ subject: Subject) throws -> ValueExplanation? {
    guard var register = try register(subject, in: base) else { return nil }
    let end = try subject.isLink ? deletion(of: subject.member, in: base) : nil
    if end != nil {
      if subject.isPlace { return nil }
      register = Register(value: .null, write: register.write)
    }
    let lost = journal.filter {
      $0.conflict.record == subject.record && $0.conflict.property == subject.property
        && $0.conflict.member == subject.member
        // A reference to what another record has: it did not supersede itself.
        && ($0.conflict.losingStamp != register.write.stamp
          || !$0.conflict.losingValue.isSame(as: register.value))
    }
    let rule =
      lost.last { $0.conflict.winningStamp == register.write.stamp }
      .map { WinningRule.conflict($0.conflict.rule) } ?? ruleOfPresence(subject, register)
    return ValueExplanation(
      record: subject.record, property: subject.property, member: subject.member,
      value: register.value,
      write: try end.map { try explain($0, of: subject.member ?? subject.record, takesLinks: true) }
        ?? explain(register.write, subject),
      rule: rule, superseded: lost,
      standings: try group.members.map {
        StoreStanding(
          store: $0.reference,
          standing: try linkStanding(subject, register, in: $0)
            ?? standing(subject, register, in: $0))
      })
  }

  /// Whether a value is there because a write won over a later delete of its record, and not because its writer had
  /// seen all: the deleter's store may have written another, which went with its row.
  private func ruleOfPresence(_ subject: Subject, _ register: Register) -> WinningRule {
    guard !subject.isLink, let state = states[base.name]?[subject.record],
      let deletion = state.deletion, register.write.stamp < deletion.stamp,
      state.isAlive(under: base.access.policy(of: state.entity))
    else { return .unopposed }
    return .conflict(.writeWon)
  }

  /// - Parameter takesLinks: Whether it is explained as what ended a link to the record.
  mutating func explain(
    _ deletion: Deletion, of id: RecordID, takesLinks: Bool = false
  ) throws -> WriteExplanation {
    WriteExplanation(
      stamp: deletion.stamp, store: group.reference(deletion.stamp.store),
      authorship: try authorship.authorship(of: deletion.stamp, .deleted(id)),
      isByDeleteRule: takesLinks, replaced: Self.stamps(deletion.seen))
  }

  private mutating func explain(
    _ write: PropertyWrite, _ subject: Subject
  ) throws -> WriteExplanation {
    WriteExplanation(
      stamp: write.stamp, store: group.reference(write.stamp.store),
      authorship: try authorship.authorship(
        of: write.stamp, .wrote(subject.record, property: subject.property)),
      isByDeleteRule: write.lastMeant != nil, replaced: Self.stamps(write.seen))
  }

  private static func stamps(_ seen: SeenWrites) -> [Stamp] {
    seen.readings.map { Stamp(clock: $0.value, store: $0.key) }.sorted()
  }

  /// The value as a store has it, a link as a reference to its member.
  private func register(_ subject: Subject, in member: GroupStores.Member) throws -> Register? {
    switch subject {
    case .register(let id, let name):
      return states[member.name]?[id]?.registers[name]
    case .link(let key, let near, _, let isPlace):
      guard let state = try member.access.ledger().link(member.ownKey(key))?.state else {
        return nil
      }
      if isPlace { return key.owner == near ? state.memberPosition : state.ownerPosition }
      let far = key.owner == near ? key.member : key.owner
      return Register(value: state.isMember ? .reference(far) : .null, write: state.write)
    }
  }

  /// The delete of a record that is deleted in a store, which has no links of it any more.
  private func deletion(
    of id: RecordID?, in member: GroupStores.Member
  ) throws -> Deletion? {
    guard let id, let entry = try member.access.ledger().record(id), entry.key == nil else {
      return nil
    }
    return entry.deletion
  }

  /// How a store has a link that it does not show, or that another store does not show, because of the record
  /// at its other end; nil for all else.
  private func linkStanding(
    _ subject: Subject, _ explained: Register, in member: GroupStores.Member
  ) throws -> ValueStanding? {
    guard subject.isLink, !subject.isPlace, let far = subject.member,
      try deletion(of: subject.record, in: member) == nil
    else { return nil }
    let isEnded = try deletion(of: far, in: base) != nil
    if try deletion(of: far, in: member) != nil {
      return isEnded ? .inStep : explained.value == .null ? nil : .newer(.null)
    }
    guard let there = try register(subject, in: member), there.value != .null else { return nil }
    if try member.access.ledger().record(far)?.key == nil { return .parked(far) }
    return isEnded ? .waiting(there.value) : nil
  }

  private func standing(
    _ subject: Subject, _ explained: Register, in member: GroupStores.Member
  ) throws -> ValueStanding {
    let ledger = try member.access.ledger()
    let id = subject.record
    let there = try register(subject, in: member)
    if let waiting = try quarantined(subject, there, ledger, member) { return waiting }
    guard let entry = try ledger.record(id) else { return .unknown }
    if entry.key == nil, entry.deletion != nil { return .deleted }
    guard let there else { return .waiting(.null) }
    if there.write.stamp < explained.write.stamp { return .waiting(there.value) }
    if there.write.stamp > explained.write.stamp { return .newer(there.value) }
    guard case .register(_, let name) = subject else { return .inStep }
    let own = try member.ownName(name, of: entry.entity)
    let column = member.access.schema.entities[entry.entity]?.names.place(of: own)
    if let target = entry.overlay[own]?.reference {
      if let holder = try holder(of: target, own, entry, ledger, member) {
        return .taken(target, by: holder)
      }
      return .parked(target)
    }
    let isPlace = name.hasSuffix(SyncSchema.positionSuffix)
    if column == nil, !isPlace { return .keptBeside }
    return .inStep
  }

  /// The record that has, for itself alone, what another refers to; nil where nothing is in the way.
  private func holder(
    of target: RecordID, _ property: String, _ entry: RecordEntry, _ ledger: Ledger,
    _ member: GroupStores.Member
  ) throws -> RecordID? {
    guard let plan = member.access.schema.entities[entry.entity],
      let column = plan.columns.first(where: { $0.name == property }), column.isExclusive,
      let inverse = column.relationship?.inverseRelationship,
      let object = try ledger.record(try ledger.resolve(target)).flatMap({
        ledger.objectID(for: $0)
      })
    else { return nil }
    if !inverse.isToMany, let slot = object.entity.layout.slotByName[inverse.name],
      let row = try member.access.store.snapshots(for: [object]).first ?? nil,
      case .object(let holder) = row[slot]
    {
      return try ledger.recordID(for: holder)
    }
    return nil
  }

  /// Whether a newer write of it waits there.
  private func quarantined(
    _ subject: Subject, _ there: Register?, _ ledger: Ledger, _ member: GroupStores.Member
  ) throws -> ValueStanding? {
    let key: SidecarKey
    switch subject {
    case .register(let id, _): key = SyncKey.quarantine(id)
    case .link(let link, _, _, _): key = SyncKey.quarantine(member.ownKey(link))
    }
    guard let data = try ledger.value(key) else { return nil }
    let entry = try QuarantineEntry(decoding: data)
    if case .register(_, let name) = subject, let state = entry.state {
      let held = (member.translation?.state(state) ?? state).registers[name]?.write.stamp
      let isNewer = held.map { held in there.map { $0.write.stamp < held } ?? true } ?? false
      if !isNewer, state.deletion == nil { return nil }
    }
    return Self.standing(entry)
  }

  private static func standing(_ entry: QuarantineEntry) -> ValueStanding {
    entry.reason == .clockSkew ? .held(entry.message) : .quarantined(entry.message)
  }

  /// How the stores have the record as a whole.
  func standings(of id: RecordID) throws -> [StoreStanding] {
    let isHere = try ledger.record(id)?.key != nil
    return try group.members.map { member in
      let ledger = try member.access.ledger()
      let standing: ValueStanding
      if let data = try ledger.value(SyncKey.quarantine(id)) {
        standing = Self.standing(try QuarantineEntry(decoding: data))
      } else if let entry = try ledger.record(id) {
        let isThere = entry.key != nil
        standing = isThere == isHere ? .inStep : isThere ? .waiting(.null) : .deleted
      } else {
        standing = .unknown
      }
      return StoreStanding(store: member.reference, standing: standing)
    }
  }
}

extension GroupStores.Member {
  /// The key of a link in the store's own names.
  func ownKey(_ key: LinkKey) -> LinkKey {
    guard let translation else { return key }
    for name in access.schema.links.keys.sorted() {
      let own = LinkKey(relationship: name, owner: key.owner, member: key.member)
      let there = translation.link(own)
      if there == key { return own }
      if there.relationship == key.relationship {
        return LinkKey(relationship: name, owner: key.member, member: key.owner)
      }
    }
    return key
  }

  /// What the store calls a property of the local store's.
  func ownName(_ property: String, of entity: String) throws -> String {
    guard let translation, let plan = access.schema.entities[entity] else { return property }
    return plan.columns.map(\.name).first { translation.property($0, of: entity) == property }
      ?? property
  }
}
