import CairnStore
import Foundation

/// Decides what it takes to write the losing value of a conflict back.
struct ConflictRestoring {
  let conflict: Conflict
  let access: StoreAccess
  let ledger: Ledger
  /// What is still known of the record, should it be deleted.
  let known: [String: WireValue]

  /// - Throws: ``SyncError`` when the record is unknown, or the rules do not allow it.
  func decide() throws -> OperatorDecision {
    let id = try ledger.resolve(conflict.record)
    guard let entry = try ledger.record(id) else {
      throw SyncError(
        .noSuchRecord, "the local store does not know the record \(id)", recovery: .person)
    }
    guard let plan = access.schema.entities[entry.entity] else {
      throw SyncError(
        .incompatibleModel, "the local store's model has no entity \(entry.entity)",
        recovery: .person)
    }
    var decision = OperatorDecision()
    guard let property = conflict.property else {
      if entry.key != nil { decision.edits = [.delete(id)] }
      return decision
    }
    if entry.key == nil {
      if entry.deletion?.policy ?? plan.policy == .deleteWins {
        throw SyncError(
          .notAllowed,
          "the record \(id) is deleted, and deletes win for \(entry.entity): it cannot come back",
          recovery: .person)
      }
      let values = known.filter { $0.key != property }
      try checkKnown(values, besides: property, plan)
      decision.edits.append(.revive(id, entity: entry.entity, values: values))
      decision.edits += try ledger.linksToShow(of: id)
    }
    decision.edits.append(try edit(of: property, id, plan))
    return decision
  }

  /// - Throws: ``SyncError`` where the record would come back with a default that no writer gave it.
  private func checkKnown(
    _ values: [String: WireValue], besides property: String, _ plan: SyncSchema.EntityPlan
  ) throws {
    let missing = plan.required.filter { $0 != property && values[$0] == nil }.sorted()
    if missing.isEmpty { return }
    throw SyncError(
      .notAllowed,
      "the record is deleted, and no store knows its \(missing.joined(separator: ", ")) any more: it cannot "
        + "come back", recovery: .person)
  }

  private func edit(
    of property: String, _ id: RecordID, _ plan: SyncSchema.EntityPlan
  ) throws -> OperatorEdit {
    let suffix = SyncSchema.positionSuffix
    let far = try conflict.member.map(ledger.resolve)
    if property.hasSuffix(suffix) {
      return try place(String(property.dropLast(suffix.count)), of: id, far, plan)
    }
    guard let far else { return .set(id, property: property, conflict.losingValue) }
    guard let side = plan.linkSides.first(where: { $0.relationship.name == property }) else {
      throw SyncError(
        .noSuchProperty,
        "\(plan.entity.name ?? "") has no relationship \(property) in this version of the model",
        recovery: .person)
    }
    return .link(side.key(near: id, far: far), isMember: conflict.losingValue != .null)
  }

  private func place(
    _ name: String, of id: RecordID, _ far: RecordID?, _ plan: SyncSchema.EntityPlan
  ) throws -> OperatorEdit {
    guard case .data(let data) = conflict.losingValue, let key = PositionKey(data: data) else {
      throw SyncError(
        .damagedBookkeeping, "the journal's place in \(name) cannot be read", recovery: .person)
    }
    if let far { return .place(owner: id, relationship: name, member: far, key) }
    guard let index = plan.names.place(of: name), let list = plan.columns[index].orderedInverse,
      let object = try ledger.record(id).flatMap({ ledger.objectID(for: $0) }),
      let row = try access.store.snapshots(for: [object]).first ?? nil,
      case .object(let target) = row[plan.columns[index].slot],
      let owner = try ledger.recordID(for: target)
    else {
      throw SyncError(
        .notAllowed, "the record \(id) is in no list by its \(name) any more", recovery: .person)
    }
    return .place(owner: owner, relationship: list.name, member: id, key)
  }
}

/// What restoring a conflict's losing value did.
public struct RestoreOutcome: Sendable, Hashable {
  public let conflict: JournaledConflict
  /// The record that has the value now: that of the conflict, or the one that it was united with.
  public let record: RecordID
  /// False when the record had the value already: nothing was written.
  public let isChanged: Bool
  /// Whether the record had been deleted and is back, with all that is still known of it.
  public let isRevived: Bool
}

extension SyncEngine {
  /// Writes the losing value of a conflict back as a new change of the local store, which then travels
  /// to all replicas.
  ///
  /// The value is written by an ordinary save: validated, with delete rules and history. It wins, being
  /// the latest write; what it replaces is no conflict, because it was seen. A deleted record comes back
  /// with it, with what the stores that are open still know of its other values. A link is added or
  /// removed again, a member goes back to its place, a delete that lost is made again. Doing it twice
  /// changes nothing more.
  ///
  /// - Parameter author: The author in history.
  /// - Throws: ``SyncError``: `noSuchConflict`; `noSuchRecord`; `noSuchProperty` and `incompatibleModel`
  ///   when the model does not have it any more; `notAllowed` when the record is deleted and deletes win
  ///   for its entity, or what the value refers to is deleted; `invalidRecord` and `valueTaken`, which
  ///   name the property; `contention`.
  @discardableResult
  public func restore(
    _ id: RecordID, as author: String = SyncConfiguration.restoringAuthor
  ) async throws -> RestoreOutcome {
    try await operating { [self] in
      var group = try group()
      let found = try findConflict(id, in: group)
      let save = OperatorSave(access: local, coordinator: coordinator, author: author)
      var record = found.conflict.record
      var isRevived = false
      let count = try save.runNamingReasons { ledger in
        record = try ledger.resolve(found.conflict.record)
        isRevived = false
        var known: [String: WireValue] = [:]
        if let entry = try ledger.record(record), entry.key == nil {
          known = try KnownValues(of: [record], in: &group).values(of: record)
        }
        let decision = try ConflictRestoring(
          conflict: found.conflict, access: local, ledger: ledger, known: known
        ).decide()
        if case .revive = decision.edits.first { isRevived = true }
        return decision
      }
      return RestoreOutcome(
        conflict: found, record: record, isChanged: count > 0, isRevived: isRevived)
    }
  }
}
