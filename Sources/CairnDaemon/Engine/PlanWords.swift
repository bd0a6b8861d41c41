// What a pass would do, in the words of the control protocol.

import CairnControl
import CairnSync

extension DirectionPlan {
  var onWire: PlanPass.Direction {
    .init(
      source: source.text, destination: destination.text,
      entities: entities.map {
        .init(
          entity: $0.entity, inserted: $0.inserted, updated: $0.updated, deleted: $0.deleted,
          cascaded: $0.cascaded)
      },
      changes: records.map(\.onWire), links: links, conflictCount: conflictCount,
      conflicts: conflicts.map { conflict in
        .init(
          entity: conflict.entity, record: conflict.record.description,
          property: conflict.property, lost: conflict.losingValue.listed,
          won: conflict.winningValue.listed)
      },
      waitCount: quarantinedCount,
      waits: quarantined.map {
        .init(entity: $0.entity, record: $0.subject.words, reason: $0.message)
      },
      approval: awaitingApproval?.message, rowsNotTakenUp: rowsNotTakenUp, isComplete: isComplete)
  }
}

extension PlannedRecord {
  fileprivate var onWire: PlanPass.Change {
    let values = properties.map {
      PlanPass.Value(name: $0.name, before: $0.before?.listed, after: $0.after?.listed)
    }
    func change(_ kind: PlanPass.Change.Kind, into: RecordID? = nil) -> PlanPass.Change {
      .init(
        kind: kind, entity: entity, record: record.description, into: into?.description,
        values: values)
    }
    switch kind {
    case .insert: return change(.insert)
    case .update: return change(.update)
    case .delete: return change(.delete)
    case .unite(let other): return change(.unite, into: other)
    case .cascade: return change(.cascade)
    }
  }
}

extension QuarantineID.Subject {
  fileprivate var words: String {
    switch self {
    case .record(let id): id.description
    case .link(let key): "\(key.relationship) \(key.owner) \(key.member)"
    }
  }
}
