import Foundation

/// Which entries of the conflict journal to list: those that meet all that is given.
public struct ConflictFilter: Sendable, Hashable {
  /// Noted at this time or later, in milliseconds since 1970.
  public var since: UInt64?
  /// Noted before this time, in milliseconds since 1970.
  public var until: UInt64?
  /// About this record, or about one that was united with it.
  public var record: RecordID?
  public var entity: String?
  /// The property, also as the place in an ordered relationship or as a link.
  public var property: String?
  /// Nil for all.
  public var rules: Set<Conflict.Rule>?

  public init(
    since: UInt64? = nil, until: UInt64? = nil, record: RecordID? = nil, entity: String? = nil,
    property: String? = nil, rules: Set<Conflict.Rule>? = nil
  ) {
    self.since = since
    self.until = until
    self.record = record
    self.entity = entity
    self.property = property
    self.rules = rules
  }

  /// - Parameter resolve: The record that stands for another now.
  func matches(
    _ entry: JournalEntry, resolve: (RecordID) throws -> RecordID
  ) rethrows -> Bool {
    let conflict = entry.conflict
    if let since, entry.time < since { return false }
    if let until, entry.time >= until { return false }
    if let entity, conflict.entity != entity { return false }
    if let property, !Self.names(conflict.property, property) { return false }
    if let rules, !rules.contains(conflict.rule) { return false }
    guard let record, conflict.record != record else { return true }
    return try resolve(conflict.record) == resolve(record)
  }

  private static func names(_ property: String?, _ wanted: String) -> Bool {
    property == wanted || property == wanted + SyncSchema.positionSuffix
  }
}

/// An entry of the conflict journal, with the names of the stores that it tells of.
public struct JournaledConflict: Sendable, Hashable, Identifiable {
  public let entry: JournalEntry
  /// The stores whose journals have it.
  public let journals: [StoreReference]
  public let losingStore: StoreReference
  public let winningStore: StoreReference

  /// The same in every store; see ``SyncEngine/conflict(_:)``.
  public var id: RecordID { entry.id }
  /// When the first of ``journals`` noted it, in milliseconds since 1970.
  public var time: UInt64 { entry.time }
  public var conflict: Conflict { entry.conflict }
}

/// A place in the list of conflicts, to go on from.
public struct ConflictCursor: Sendable, Hashable, LosslessStringConvertible {
  let key: Data

  init(key: Data) { self.key = key }

  /// Reads ``description``; nil for anything else.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    var rest = Substring(text)
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16), rest.first != "+" else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    key = Data(bytes)
  }

  public var description: String {
    key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// A part of the list of conflicts.
public struct ConflictPage: Sendable, Hashable {
  /// In the order in which the winning values were written.
  public let conflicts: [JournaledConflict]
  /// Where the next page begins; nil when this is the last.
  public let next: ConflictCursor?
  /// Entries that could not be read, because a file is damaged.
  public let damaged: Int
  /// The replicas whose journals were not read.
  public let away: [AwayStore]
}
