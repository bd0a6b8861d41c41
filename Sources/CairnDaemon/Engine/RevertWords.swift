// What taking writes back does, in the words of the control protocol.

import CairnControl
import CairnSync

extension RevertStep {
  var onWire: RevertAuthor.Step {
    let id = record.description
    switch kind {
    case .set(let property, let old, let new):
      return .init(
        entity: entity, record: id, kind: .set, property: property, old: old.listed, new: new.listed
      )
    case .link(let relationship, let member, let isMember):
      return .init(
        entity: entity, record: id, kind: .link, property: relationship,
        member: member.description, isMember: isMember)
    case .delete: return .init(entity: entity, record: id, kind: .delete)
    case .bringBack(_, let missing):
      return .init(entity: entity, record: id, kind: .bringBack, missing: missing)
    }
  }
}

extension KeptWrite {
  var onWire: RevertAuthor.Kept {
    .init(entity: entity, record: record.description, property: property, reason: words)
  }

  private var words: String {
    switch reason {
    case .superseded: return "others wrote it later"
    case .writtenByOthers: return "others wrote to the record since"
    case .neededByOthers(let records):
      let names = records.prefix(3).map(\.description).joined(separator: ", ")
      return "others need it: \(names)"
        + (records.count > 3 ? " and \(records.count - 3) more" : "")
    case .formerValueUnknown: return "no store that is open knows what was there before"
    case .targetGone(let record): return "it would lead to \(record), which is deleted"
    case .valuesUnknown(let names):
      return "no value is known of \(names.joined(separator: ", ")), without which it is not valid"
    case .deleteWins: return "deletes win for the entity: it cannot come back"
    case .order: return "the order that was before is not known"
    case .notHere: return "the local store has not got it yet"
    case .notInModel: return "the local store's model does not have it"
    case .refused(let why): return why
    }
  }
}
