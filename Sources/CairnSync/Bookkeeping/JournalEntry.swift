import CairnStore
import Crypto
import Foundation

/// A conflict as a store remembers it.
public struct JournalEntry: Hashable, Sendable {
  /// Names the entry in this and every other store.
  public let id: RecordID
  /// When it was merged here, in milliseconds since 1970.
  public let time: UInt64
  public let conflict: Conflict

  init(conflict: Conflict, time: UInt64) {
    var writer = ByteWriter()
    writer.identity(conflict.record)
    writer.string(conflict.property ?? "")
    writer.stamp(conflict.losingStamp)
    writer.stamp(conflict.winningStamp)
    if let member = conflict.member { writer.identity(member) }
    var digest: UInt64 = 0
    for byte in SHA256.hash(data: writer.data).prefix(8) { digest = digest << 8 | UInt64(byte) }
    // The clock first, so that the ID leads to the entry's place among millions.
    id = RecordID(high: conflict.winningStamp.clock.bits, low: digest)
    self.time = time
    self.conflict = conflict
  }

  private init(id: RecordID, time: UInt64, conflict: Conflict) {
    self.id = id
    self.time = time
    self.conflict = conflict
  }

  var key: Data {
    SyncKey.number(conflict.winningStamp.clock.bits) + SyncKey.bytes(id)
  }

  /// Where an entry with the ID is, unless an older version of the journal gave it.
  static func key(of id: RecordID) -> SidecarKey {
    SyncMap.journal.key(SyncKey.number(id.high) + SyncKey.bytes(id))
  }

  /// Whether it tells more of the same conflict than another: a store that was given records already united
  /// sees the later writer win, and only those that united them know why.
  func saysMore(than other: JournalEntry) -> Bool {
    conflict.rule == .united && other.conflict.rule != .united
  }

  /// The same, as noted at another time.
  func noted(at time: UInt64) -> JournalEntry {
    JournalEntry(id: id, time: time, conflict: conflict)
  }

  /// The entry in the names of another version of the model.
  func translated(by translation: SchemaTranslation) -> JournalEntry {
    JournalEntry(
      id: id, time: time,
      conflict: Conflict(
        record: conflict.record, entity: translation.entity(conflict.entity),
        property: conflict.property.map { translation.property($0, of: conflict.entity) },
        losingValue: conflict.losingValue, losingStamp: conflict.losingStamp,
        winningValue: conflict.winningValue, winningStamp: conflict.winningStamp,
        rule: conflict.rule, member: conflict.member))
  }

  // Bytes: version 1 · ID 16 · time 8 · record 16 · entity · property (empty: none) · losing value,
  // stamp · winning value, stamp · rule string · [member 16]
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.identity(id)
    writer.fixed(time)
    writer.identity(conflict.record)
    writer.string(conflict.entity)
    writer.string(conflict.property ?? "")
    writer.value(conflict.losingValue)
    writer.stamp(conflict.losingStamp)
    writer.value(conflict.winningValue)
    writer.stamp(conflict.winningStamp)
    writer.string(conflict.rule.rawValue)
    if let member = conflict.member { writer.identity(member) }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    let id = try reader.identity(RecordID.self)
    let time = try reader.fixed()
    let record = try reader.identity(RecordID.self)
    let entity = try reader.string()
    let property = try reader.string()
    let losingValue = try reader.value()
    let losingStamp = try reader.stamp()
    let winningValue = try reader.value()
    let winningStamp = try reader.stamp()
    guard let rule = Conflict.Rule(rawValue: try reader.string()) else {
      throw ByteReader.damaged
    }
    let member = reader.isAtEnd ? nil : try reader.identity(RecordID.self)
    self.init(
      id: id, time: time,
      conflict: Conflict(
        record: record, entity: entity, property: property.isEmpty ? nil : property,
        losingValue: losingValue, losingStamp: losingStamp, winningValue: winningValue,
        winningStamp: winningStamp, rule: rule, member: member))
  }
}
