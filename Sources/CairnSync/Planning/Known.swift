import CairnModel
import Foundation

/// What a destination knows of the things that one batch concerns: a value, which a loader fills with
/// what the planner asks for.
///
/// What is missing was not asked for yet; what was looked up and is not there is nil or empty.
struct Known: Sendable {
  /// The values of a row by property, references by record ID.
  typealias Row = RowValues

  var entries: [RecordID: RecordEntry?] = [:]
  /// Of entries with an object; nil where the row is gone.
  var rows: [RecordID: Row?] = [:]
  /// The properties of a row that hold what is no value of theirs, and were read as null.
  var strays: [RecordID: Set<String>] = [:]
  var links: [LinkKey: LinkState?] = [:]
  /// All links of a record on one side, whatever their state.
  var linksOfRecords: [LinkEnd: [LinkKey]] = [:]
  /// The references that wait for a record.
  var waiting: [RecordID: [WaitingReference]] = [:]
  /// The records whose rows refer to a record.
  var referrers: [RecordID: [Referrer]] = [:]
  /// The records whose rows have the values of a uniqueness constraint.
  var holders: [UniquePlace: [RecordID]] = [:]
  var quarantine: [HeldKey: QuarantineEntry?] = [:]
  /// What the source of the batch has of records that it did not send with it.
  var sources: [RecordID: RecordState?] = [:]

  /// Whether no reference waits for anything, the usual case.
  var nothingWaits = false
  var hasNoLinks = false
  var nothingIsHeld = false
  /// Whether the destination has none of the records that the batch brings.
  var hasNoneOfBatch = false
}

/// A reference whose target was not here when it arrived.
struct WaitingReference: Hashable, Sendable {
  let owner: RecordID
  let property: String
}

/// A record whose row refers to another, and by which property.
struct Referrer: Hashable, Sendable {
  let record: RecordID
  let property: String
}

/// A record as one end of the links of a relationship.
struct LinkEnd: Hashable, Sendable {
  enum Role: Hashable, Sendable {
    case owner, member
    /// Of a relationship that is its own inverse.
    case either
  }
  /// The name of the ``SyncSchema/LinkPlan``.
  let relationship: String
  let record: RecordID
  let role: Role

  init(_ side: SyncSchema.LinkSide, of record: RecordID) {
    self.init(
      side.plan.name, side.plan.isSymmetric ? .either : side.isCanonical ? .owner : .member, record)
  }

  init(_ relationship: String, _ role: Role, _ record: RecordID) {
    self.relationship = relationship
    self.role = role
    self.record = record
  }
}

/// What quarantine is keyed by.
enum HeldKey: Hashable, Sendable {
  case record(RecordID)
  case link(LinkKey)
}

/// The place of a record under a uniqueness constraint: the entity that declares the constraint, its
/// properties, and the values, which no two live records may share.
struct UniquePlace: Hashable, Sendable {
  let entity: String
  let constraint: [String]
  let values: [WireValue]
  /// What makes two places the same: strings are compared by bytes.
  private let bytes: Data

  init(entity: String, constraint: [String], values: [WireValue]) {
    self.entity = entity
    self.constraint = constraint
    self.values = values
    var writer = ByteWriter()
    for value in values { writer.value(value) }
    bytes = writer.data
  }

  /// The constraint belongs to the entity that declares it, and holds among all its subentities.
  ///
  /// - Parameter resolve: Gives the record that stands for one.
  /// - Returns: Nil where a value is missing: then any number of records may be like that.
  init?(
    of state: RecordState, _ entity: EntityDescription, _ constraint: [String],
    resolve: (RecordID) -> RecordID
  ) {
    var values: [WireValue] = []
    for name in constraint {
      guard let value = state.registers[name]?.value, value != .null else { return nil }
      values.append(value.reference.map { .reference(resolve($0)) } ?? value)
    }
    var next: EntityDescription? = entity
    while let current = next {
      if current.constraintNames.contains(constraint) {
        self.init(entity: current.name ?? "", constraint: constraint, values: values)
        return
      }
      next = current.superentity
    }
    return nil
  }

  static func == (a: UniquePlace, b: UniquePlace) -> Bool {
    a.bytes == b.bytes && a.entity == b.entity && a.constraint == b.constraint
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(entity)
    hasher.combine(bytes)
  }
}

/// One thing that a planner wants to know of a destination.
enum Lookup: Hashable, Sendable {
  /// Its entry in the bookkeeping.
  case entry(RecordID)
  /// Its entry and, where it has an object, its row.
  case record(RecordID)
  case link(LinkKey)
  /// The links of a record, with their states.
  case links(LinkEnd)
  case waiting(RecordID)
  case referrers(RecordID)
  case holders(UniquePlace)
  case held(HeldKey)
  /// What the source of a batch that is a part has of the record.
  case source(RecordID)
}
