// Explanations in the words of the control protocol.

import CairnControl
import CairnSync

extension Explanation {
  var onWire: ExplainValue.Reply {
    ExplainValue.Reply(
      record: record.description, survivor: survivor.description, entity: entity,
      isDeleted: isDeleted, deletion: deletion?.onWire, standings: standings.map(\.onWire),
      values: values.map(\.onWire), hasMore: hasMore, away: away.map(\.onWire))
  }
}

extension ValueExplanation {
  fileprivate var onWire: ExplainValue.ValueExplained {
    let written = value.written(write.stamp, by: write.store, limit: JournaledConflict.listed)
    let isPlace = property.hasSuffix(Conflict.placeSuffix)
    return ExplainValue.ValueExplained(
      record: record.description,
      property: isPlace ? String(property.dropLast(Conflict.placeSuffix.count)) : property,
      member: member?.description, isPlace: isPlace, value: written.value,
      omitted: written.omitted, write: write.onWire, rule: rule.onWire,
      superseded: superseded.map { $0.onWire(limit: JournaledConflict.listed) },
      standings: standings.map(\.onWire))
  }
}

extension WinningRule {
  fileprivate var onWire: ExplainValue.ValueExplained.Rule {
    switch self {
    case .unopposed: .unopposed
    case .conflict(.lastWriter): .lastWriter
    case .conflict(.deleteWon): .deleteWon
    case .conflict(.writeWon): .writeWon
    case .conflict(.united): .united
    case .conflict(.contradiction): .contradiction
    case .conflict(.discarded): .discarded
    case .conflict(.reverted): .reverted
    }
  }
}

extension WriteExplanation {
  /// How far a stamp may be from its transaction's time because the store's clock followed another's.
  private static let usualDelay: UInt64 = 60_000

  fileprivate var onWire: ExplainValue.WriteExplained {
    var line = ExplainValue.WriteExplained(
      at: time.map(WireDate.init(milliseconds:)), store: store.text, known: .nobody,
      isByDeleteRule: isByDeleteRule)
    switch authorship {
    case .transaction(let number, let author, let context, let process, let date):
      line.known = .transaction
      line.transaction = Int(number)
      line.author = author
      line.context = context
      line.process = process
      if let time, max(time, date) - min(time, date) > Self.usualDelay {
        line.dated = WireDate(milliseconds: date)
      }
    case .elsewhere: line.known = .elsewhere
    case .gone: line.known = .gone
    case .nobody: line.known = .nobody
    }
    return line
  }
}

extension StoreStanding {
  fileprivate var onWire: ExplainValue.StoreStands {
    func stands(
      _ standing: ExplainValue.StoreStands.Standing, _ value: WireValue? = nil,
      _ reason: String? = nil
    ) -> ExplainValue.StoreStands {
      let json = value.flatMap { $0.isLong(JournaledConflict.listed) ? nil : $0.json }
      return .init(
        store: store.text, standing: standing, value: json == .null ? nil : json, reason: reason)
    }
    switch standing {
    case .inStep: return stands(.inStep)
    case .waiting(let value): return stands(.waiting, value)
    case .newer(let value): return stands(.newer, value)
    case .quarantined(let why): return stands(.quarantined, nil, why)
    case .held(let why): return stands(.held, nil, why)
    case .parked(let record): return stands(.parked, nil, "waits for \(record)")
    case .taken(let record, let holder):
      return stands(.parked, nil, "\(holder) has \(record), which only one can have")
    case .deleted: return stands(.deleted)
    case .unknown: return stands(.unknown)
    case .keptBeside: return stands(.keptBeside)
    }
  }
}
