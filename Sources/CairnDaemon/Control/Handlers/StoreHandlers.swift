// Serves io.cairn.Store.
import CairnControl
import CairnStore
import CairnSync
import Foundation

extension HandlerTable {
  mutating func serveStores() {
    serve(ListStores.self, reads: true) { _, engine in .init(stores: try await engine.stores()) }

    serve(DescribeStore.self, reads: true) { parameters, engine in
      try await engine.describe(parameters.name)
    }

    serve(AddStore.self) { parameters, engine in try await engine.addStore(parameters) }

    serve(RemoveStore.self) { parameters, engine in
      try await engine.removeStore(named: parameters.name)
      return NoValues()
    }

    // It reads everything.
    let verification = ExclusiveWork("another verification")
    stream(VerifyStores.self) { parameters, engine, send in
      try await verification.run {
        let group = try await engine.current()
        let isLocal = try group.stores(parameters.name) == [StoreReference.localName]
        let verification = Verification(
          group: group, names: isLocal ? [] : try group.names(parameters.name),
          level: parameters.level == .quick ? .quick : .full)
        let summary = try await verification.run(report: send)
        for store in summary.stores where store.store != StoreReference.localName {
          Verification.log(store.differences, in: store.store, to: engine.logger)
        }
        return .init(summary: summary)
      }
    }

    let repairing = ExclusiveWork("another repair")
    stream(RepairStores.self) { parameters, engine, send in
      try await repairing.run {
        let group = try await engine.current()
        if parameters.name == StoreReference.localName {
          try await Self.repairLocal(in: group, parameters, send)
          return .init()
        }
        for name in try group.names(parameters.name) {
          try await Self.repair(name, in: group, parameters, send)
        }
        if parameters.dryRun != true { await Verification.checkDamaged(group) }
        return .init()
      }
    }

    let copying = ExclusiveWork("another backup")
    stream(BackupStore.self) { parameters, engine, send in
      try await copying.run {
        let group = try await engine.current()
        let name = parameters.name ?? StoreReference.localName
        let sections = await engine.replicas.mapValues(\.section)
        if case .postgreSQL(let place)? = sections[name]?.store {
          throw ControlError.notPossible(
            code: "no-file",
            reason:
              "\(name) has no file that could be copied; the database's own program saves it: "
              + place.dumpCommand(named: name))
        }
        let (store, coordinator) = try group.store(named: parameters.name)
        let backup = try StoreBackup(
          folder: await engine.configuration.backup.folder, store: name, label: parameters.label,
          now: Date())
        return try await InterimReports.sending(send) { report in
          try await Blocking.run {
            try backup.run(of: store, in: coordinator, named: name, report: report)
          }
        }
      }
    }

    let moving = ExclusiveWork("another checkpoint")
    serve(CheckpointStore.self) { parameters, engine in
      try await moving.run {
        let group = try await engine.current()
        let store = try group.store(named: parameters.name).store
        let name = parameters.name ?? StoreReference.localName
        guard let path = store.filePath, let releasing = store.capabilities.resources else {
          throw ControlError.notPossible(code: "no-file", reason: "\(name) has no log")
        }
        return try await Blocking.run {
          try WriteAheadLog(path: path).checkpoint(releasing, named: name)
        }
      }
    }

    let purging = ExclusiveWork("another purge")
    serve(PurgeHistory.self) { parameters, engine in
      if let age = parameters.olderThan, !(age >= 0 && age <= 1e10) {
        throw ControlError.invalidParameter("olderThan")
      }
      return try await purging.run {
        let group = try await engine.current()
        let reports = try await group.engine.purge(
          names: try group.stores(parameters.name),
          olderThan: parameters.olderThan.map { .seconds($0) },
          isPlan: parameters.dryRun ?? false)
        // Says that the store is not open.
        if reports.isEmpty, let name = parameters.name { _ = try group.store(named: name) }
        return .init(stores: reports.map(\.onWire))
      }
    }
  }

  /// Takes what was done to the local store past history for done now; tells what is damaged there all the same.
  private static func repairLocal(
    in group: OpenGroup, _ parameters: RepairStores.Parameters,
    _ send: @Sendable (RepairStores.Reply) async throws -> Void
  ) async throws {
    let local = StoreReference.localName
    if parameters.prefer == .replica { throw ControlError.invalidParameter("prefer") }
    let isPlan = parameters.dryRun ?? false
    let report = try await group.engine.repairLocal(
      acceptsChanges: parameters.prefer == .local, isPlan: isPlan)
    for action in report.actions { try await send(.init(action: action.onWire(store: local))) }
    let remaining = isPlan ? [] : try await Verification.damage(in: group)
    for finding in remaining {
      try await send(.init(remaining: .init(store: local, kind: .damage, detail: finding)))
    }
    try await send(
      .init(
        result: .init(
          store: local, actions: report.actions.count, remaining: remaining.count)))
  }

  /// Repairs one replica; tells what was done, what remains, and the result.
  private static func repair(
    _ name: String, in group: OpenGroup, _ parameters: RepairStores.Parameters,
    _ send: @Sendable (RepairStores.Reply) async throws -> Void
  ) async throws {
    let report: RepairReport
    do {
      report = try await group.engine.repair(
        name: name,
        preferring: parameters.prefer.map { $0 == .replica ? .replica : .local },
        isPlan: parameters.dryRun ?? false, timeout: .seconds(300))
    } catch let error as SyncError {
      let problem = StatusProblem(code: error.code.rawValue, message: error.message)
      return try await send(
        .init(result: .init(store: name, actions: 0, remaining: 0, problem: problem)))
    }
    for action in report.actions {
      try await send(.init(action: action.onWire(store: name)))
    }
    for difference in report.remaining {
      try await send(.init(remaining: difference.onWire(store: name)))
    }
    try await send(
      .init(
        result: .init(
          store: name, actions: report.actions.count, remaining: report.remaining.count,
          leftOut: report.leftOut > 0 ? report.leftOut : nil, held: try group.held(in: name))))
  }
}
