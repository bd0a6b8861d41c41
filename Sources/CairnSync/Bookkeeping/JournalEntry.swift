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
    var words: (UInt64, UInt64) = (0, 0)
    for (index, byte) in SHA256.hash(data: writer.data).prefix(16).enumerated() {
      if index < 8 {
        words.0 = words.0 << 8 | UInt64(byte)
      } else {
        words.1 = words.1 << 8 | UInt64(byte)
      }
    }
    id = RecordID(high: words.0, low: words.1)
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
