// What operators look at, in the words of the control protocol.

import Cairn
import CairnControl
import CairnRecords
import CairnSync
import Foundation

extension WireValue {
  /// The value as the wire carries it.
  var json: JSONValue {
    switch self {
    case .null: .null
    case .boolean(let flag): .bool(flag)
    case .integer(let number): .exact(number)
    case .float(let number): RecordCoding.json(.float(number))
    case .double(let number): RecordCoding.json(.double(number))
    case .decimal(let number): RecordCoding.json(.decimal(number))
    case .string(let text): .string(text)
    case .date(let date): RecordCoding.json(.date(date))
    case .data(let data): RecordCoding.json(.data(data))
    case .uuid(let uuid): RecordCoding.json(.uuid(uuid))
    case .url(let url): RecordCoding.json(.url(url))
    case .reference(let id): .string(id.description)
    }
  }

  /// The bytes of a value that can be long.
  private var length: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let data): data.count
    case .url(let url): url.absoluteString.utf8.count
    default: 0
    }
  }

  func isLong(_ limit: Int) -> Bool { length > limit }

  /// The value in a list; nil for null and for a long one.
  var listed: JSONValue? {
    self == .null || isLong(JournaledConflict.listed) ? nil : json
  }

  /// - Parameter limit: The bytes from which on a value is left out.
  func written(_ stamp: Stamp, by store: StoreReference, limit: Int) -> WrittenValue {
    let isLong = isLong(limit)
    return WrittenValue(
      value: isLong || self == .null ? nil : json, omitted: isLong ? length : nil,
      at: WireDate(milliseconds: stamp.clock.milliseconds), store: store.text)
  }
}

extension JournaledConflict {
  /// Bytes of a value in a list, and of one that is shown alone.
  static let listed = 1024
  static let shown = 1 << 20

  func onWire(limit: Int) -> JournaledConflictEntry {
    JournaledConflictEntry(
      id: id.description, at: WireDate(milliseconds: time), entity: conflict.entity,
      record: conflict.record.description, property: conflict.propertyName,
      member: conflict.member?.description, isPlace: conflict.isPlace,
      rule: conflict.rule.onWire,
      lost: conflict.losingValue.written(
        conflict.losingStamp, by: losingStore, limit: limit),
      won: conflict.winningValue.written(
        conflict.winningStamp, by: winningStore, limit: limit),
      journals: journals.map(\.text))
  }
}

extension Conflict.Rule {
  var onWire: JournaledConflictEntry.Rule {
    switch self {
    case .lastWriter: .lastWriter
    case .deleteWon: .deleteWon
    case .writeWon: .writeWon
    case .united: .united
    case .contradiction: .contradiction
    case .discarded: .discarded
    case .reverted: .reverted
    }
  }

  init(_ rule: JournaledConflictEntry.Rule) {
    switch rule {
    case .lastWriter: self = .lastWriter
    case .deleteWon: self = .deleteWon
    case .writeWon: self = .writeWon
    case .united: self = .united
    case .contradiction: self = .contradiction
    case .discarded: self = .discarded
    case .reverted: self = .reverted
    }
  }
}

extension QuarantinedItem {
  var onWire: QuarantinedEntry {
    let effect = discardEffect.words
    return QuarantinedEntry(
      id: id.description, store: store.text, source: source.text,
      since: WireDate(milliseconds: since), reason: reason.onWire, message: message,
      entity: entity, record: record?.description, properties: properties, isDelete: isDelete,
      ahead: ahead.map { Double($0) / 1000 }, writers: writers.map(\.text), discard: effect.text,
      canDiscard: effect.isPossible, revision: revision)
  }
}

extension QuarantineEntry.Reason {
  var onWire: QuarantinedEntry.Reason {
    switch self {
    case .validation: .validation
    case .clockSkew: .clockSkew
    }
  }

  init(_ reason: QuarantinedEntry.Reason) {
    switch reason {
    case .validation: self = .validation
    case .clockSkew: self = .clockSkew
    }
  }
}

extension DiscardEffect {
  fileprivate var words: (text: String, isPossible: Bool) {
    switch self {
    case .keepsValues(let names) where names.isEmpty:
      ("nothing changes in the stores", true)
    case .keepsValues(let names):
      (
        "the store's present \(names.joined(separator: ", ")) "
          + "\(names.count == 1 ? "replaces" : "replace") what waits, in all stores", true
      )
    case .deletesRecord: ("the store does not have the record: it is deleted in all stores", true)
    case .keepsRecord: ("the delete is taken back: the record comes back in all stores", true)
    case .impossible(let why): (why, false)
    }
  }
}

extension ParkedReference {
  var onWire: ParkedEntry {
    ParkedEntry(
      store: store.text, entity: entity, record: id.owner.description, property: property,
      awaited: id.target.description, isQuarantined: isQuarantined, stores: holders.map(\.text))
  }
}

extension AwayStore {
  var onWire: AwayReplica { AwayReplica(name: name, reason: reason) }
}
