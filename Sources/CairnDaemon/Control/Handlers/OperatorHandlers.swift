// Serves the methods of io.cairn.Sync that show and change what merging decided.
import CairnControl
import CairnSync

extension HandlerTable {
  mutating func serveConflicts() {
    serve(ListConflicts.self) { parameters, engine in
      let group = try await engine.current()
      let page = try await group.engine.conflicts(
        matching: try group.filter(parameters),
        after: try parse(parameters.after, "after", ConflictCursor.init),
        limit: try Self.limit(parameters.limit), in: try group.stores(parameters.name))
      return .init(
        conflicts: page.conflicts.map { $0.onWire(limit: JournaledConflict.listed) },
        next: page.next?.description, damaged: page.damaged, away: page.away.map(\.onWire))
    }

    serve(GetConflict.self) { parameters, engine in
      let id = try recordID(parameters.id, "id")
      let conflict = try await Self.naming(.conflict, parameters.id) {
        try await engine.current().engine.conflict(id)
      }
      return .init(conflict: conflict.onWire(limit: JournaledConflict.shown))
    }

    serve(RestoreConflict.self) { parameters, engine in
      let id = try recordID(parameters.id, "id")
      try check(author: parameters.author)
      let outcome = try await Self.naming(.conflict, parameters.id) {
        try await engine.current().engine.restore(
          id, as: parameters.author ?? SyncConfiguration.restoringAuthor)
      }
      return .init(
        conflict: outcome.conflict.onWire(limit: JournaledConflict.listed),
        record: outcome.record.description, changed: outcome.isChanged,
        revived: outcome.isRevived)
    }
  }

  mutating func serveExplanations() {
    serve(ExplainValue.self) { parameters, engine in
      let group = try await engine.current()
      let entity = try group.entity(parameters.entity)
      let id = try recordID(parameters.id, "id")
      let missing = ControlError.recordNotFound(entity: parameters.entity, id: parameters.id)
      do {
        let found = try await group.engine.explain(id, property: parameters.property)
        let own = group.coordinator.managedObjectModel.entitiesByName[found.entity]
        guard own?.isKindOf(entity: entity) ?? false else { throw missing }
        return found.onWire
      } catch let error as SyncError where error.code == .noSuchProperty {
        throw ControlError.unknownProperty(parameters.property ?? "", of: entity)
      } catch let error as SyncError where error.code == .noSuchRecord {
        throw missing
      }
    }
  }

  mutating func serveDecisions() {
    serve(RevertAuthor.self) { parameters, engine in
      try check(author: parameters.by)
      let group = try await engine.current()
      let request = try group.revertRequest(parameters)
      if parameters.dryRun ?? false {
        let plan = try await group.engine.planRevert(request)
        return .init(
          plan: plan.id, steps: plan.steps.map(\.onWire), kept: plan.kept.map(\.onWire),
          withoutHistory: plan.withoutHistory.map(\.text), away: plan.away.map(\.onWire))
      }
      let outcome = try await group.engine.revert(
        request, plan: parameters.plan, as: parameters.by ?? SyncConfiguration.revertingAuthor)
      return .init(steps: outcome.done.map(\.onWire), kept: outcome.kept.map(\.onWire))
    }

    // It reads all that waits to travel.
    let planning = ExclusiveWork("another plan")
    serve(PlanPass.self) { parameters, engine in
      let group = try await engine.current()
      let name = try group.replica(named: parameters.name)
      let limit = parameters.limit ?? 20
      guard (0...1000).contains(limit) else { throw ControlError.invalidParameter("limit") }
      return try await planning.run {
        let plan = try await group.engine.plan(name, limit: limit)
        return .init(pull: plan.pull?.onWire, push: plan.push?.onWire)
      }
    }

    serve(ApproveDeletions.self) { parameters, engine in
      let group = try await engine.current()
      let name = try group.replica(named: parameters.name)
      let plan =
        parameters.reject ?? false
        ? try await group.engine.reject(name, plan: parameters.plan)
        : try await group.engine.approve(name, plan: parameters.plan)
      return .init(
        store: plan.store,
        deletions: plan.entities.map {
          .init(entity: $0.entity, deleted: $0.deleted, total: $0.total)
        })
    }
  }

  mutating func serveQuarantine() {
    serve(ListQuarantine.self) { parameters, engine in
      let group = try await engine.current()
      let page = try await group.engine.quarantine(
        reason: parameters.reason.map(QuarantineEntry.Reason.init),
        in: try group.stores(parameters.name),
        after: try parse(parameters.after, "after", QuarantineID.init),
        limit: try Self.limit(parameters.limit))
      return .init(
        entries: page.items.map(\.onWire), next: page.next?.description, damaged: page.damaged,
        away: page.away.map(\.onWire))
    }

    serve(GetQuarantined.self) { parameters, engine in
      let group = try await engine.current()
      let id = try group.quarantineID(parameters.id)
      return .init(
        entry: try await Self.naming(.quarantine, parameters.id) {
          try await group.engine.quarantined(id).onWire
        })
    }

    serve(RetryQuarantine.self) { parameters, engine in
      let group = try await engine.current()
      let ids = try parameters.ids?.map(group.quarantineID)
      if ids != nil, parameters.name != nil { throw ControlError.invalidParameter("name") }
      let names = try group.stores(parameters.name)
      let result = try await Self.naming(
        .quarantine, parameters.ids?.joined(separator: ", ") ?? ""
      ) { try await group.engine.retryQuarantined(ids, in: names) }
      return .init(released: result.released, waiting: result.waiting.map(\.onWire))
    }

    serve(DiscardQuarantine.self) { parameters, engine in
      let group = try await engine.current()
      let id = try group.quarantineID(parameters.id)
      let lost = try await Self.naming(.quarantine, parameters.id) {
        try await group.engine.discard(id, revision: parameters.revision)
      }
      return .init(lost: lost.count)
    }

    serve(AcceptHeld.self) { parameters, engine in
      let group = try await engine.current()
      var selection = HeldSelection.all
      if let writer = parameters.writer {
        if parameters.record != nil { throw ControlError.invalidParameter("record") }
        selection = .store(try group.writer(writer))
      } else if let record = parameters.record {
        selection = .record(try recordID(record, "record"))
      }
      return .init(
        accepted: try await group.engine.accept(
          selection, in: try group.stores(parameters.name)))
    }
  }

  mutating func serveParked() {
    serve(ListParked.self) { parameters, engine in
      let group = try await engine.current()
      let page = try await group.engine.parked(
        in: try group.stores(parameters.name),
        after: try parse(parameters.after, "after", ParkedReference.ID.init),
        limit: try Self.limit(parameters.limit))
      return .init(
        entries: page.references.map(\.onWire), next: page.next?.description,
        away: page.away.map(\.onWire))
    }

    serve(AbandonParked.self) { parameters, engine in
      let group = try await engine.current()
      let records = try parameters.records?.map { try recordID($0, "records") }
      return .init(abandoned: try await group.engine.abandon(records))
    }
  }

  /// The entries of one page of a list.
  private static func limit(_ limit: Int?) throws -> Int {
    guard let limit else { return 100 }
    guard (1...1000).contains(limit) else { throw ControlError.invalidParameter("limit") }
    return limit
  }

  /// Names the entry in what is thrown when there is none.
  private static func naming<Result>(
    _ kind: EntryKind, _ id: String, _ work: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await work()
    } catch let error as SyncError
      where error.code == .noSuchConflict || error.code == .notQuarantined
    {
      throw ControlError.entryNotFound(kind: kind, id: id, reason: error.message)
    }
  }
}

/// Refuses the author name of sync: an operator reads in the history which program wrote what.
func check(author: String?) throws(ControlError) {
  if let author, SyncConfiguration.ownAuthors.contains(author) {
    throw .notPossible(
      code: "author-reserved",
      reason: "the author \"\(author)\" is sync's own, and reserved; choose another name")
  }
}

/// Reads a text; nil for none.
func parse<Value>(
  _ text: String?, _ parameter: String, _ read: (String) -> Value?
) throws(ControlError) -> Value? {
  guard let text else { return nil }
  guard let value = read(text) else { throw .invalidParameter(parameter) }
  return value
}

func recordID(_ text: String, _ parameter: String) throws(ControlError) -> RecordID {
  guard let id = RecordID(text) else { throw .invalidParameter(parameter) }
  return id
}
