// Serves the methods of io.cairn.Sync that drive links.
import CairnControl
import CairnRecords
import CairnSync

extension HandlerTable {
  mutating func serveLinks() {
    serve(SyncNow.self) { parameters, engine in
      let group = try await engine.current()
      let names = try group.names(parameters.name)
      try group.engine.syncNow(names: names)
      return .init(started: names)
    }

    serve(WaitForSync.self) { parameters, engine in
      let timeout = parameters.timeout ?? 60
      guard timeout >= 0, timeout <= 86400 else { throw ControlError.invalidParameter("timeout") }
      let group = try await engine.current()
      let asked = try parameters.names?.map { try group.replica(named: $0) }
      let names = try asked.map { Array(Set($0)).sorted() } ?? group.names(parameters.name)
      let start = ContinuousClock.now
      var rest = names
      if let token = parameters.token,
        let source = try await Blocking.run({ try group.replica(ofToken: token) })
      {
        // The others get it from the local store.
        try await Self.wait(for: [source], in: group, timeout: .seconds(timeout))
        rest.removeAll { $0 == source }
      }
      if !rest.isEmpty {
        let left = max(.zero, start + .seconds(timeout) - .now)
        try await Self.wait(for: rest, in: group, timeout: left)
      }
      return .init(reached: names, waited: (ContinuousClock.now - start) / .seconds(1))
    }

    serve(PauseSync.self) { parameters, engine in
      let names = try await engine.current().names(parameters.name)
      try await engine.rest(names, true)
      return .init(paused: names)
    }

    serve(ResumeSync.self) { parameters, engine in
      let paused = await engine.paused
      let resting = try await engine.current().names(parameters.name).filter(paused.contains)
      try await engine.rest(resting, false)
      return .init(resumed: resting)
    }
  }

  /// - Throws: ``CairnControl/ControlError``, which names the replicas that are not in step.
  private static func wait(for names: [String], in group: OpenGroup, timeout: Duration)
    async throws
  {
    do {
      try await group.engine.wait(for: names, timeout: timeout)
    } catch let error as SyncError where error.code == .timedOut {
      let behind = try group.engine.status().replicas.filter {
        names.contains($0.name)
          && ($0.lagTransactions != 0 || $0.lastError != nil || $0.held.count > 0)
      }
      throw ControlError.waitTimedOut(behind: behind.isEmpty ? names : behind.map(\.name))
    } catch let error as SyncError {
      let troubled = error.replicas.isEmpty ? names : error.replicas
      throw ControlError(error, replica: troubled.joined(separator: ", "))
    }
  }
}
