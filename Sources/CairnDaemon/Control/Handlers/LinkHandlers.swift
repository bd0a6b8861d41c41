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

    serve(WaitForSync.self) { [endings, host] parameters, engine in
      func wait(for names: [String], in group: OpenGroup, timeout: Duration) async throws {
        do {
          try await Self.wait(for: names, in: group, timeout: timeout, endings)
        } catch let error as SyncError where error.code == .cancelled {
          // An engine that ends takes its waits with it, and the host says why.
          _ = try host.current()
          throw error
        }
      }
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
        try await wait(for: [source], in: group, timeout: .seconds(timeout))
        rest.removeAll { $0 == source }
      }
      if !rest.isEmpty {
        let left = max(.zero, start + .seconds(timeout) - .now)
        try await wait(for: rest, in: group, timeout: left)
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

  /// What a pass has that finds nothing to do: a wait without time looks once.
  private static let look = Duration.milliseconds(500)

  /// - Throws: ``CairnControl/ControlError``, which names the replicas that are not in step; ``CairnSync/SyncError``
  ///   with `cancelled`.
  private static func wait(
    for names: [String], in group: OpenGroup, timeout: Duration, _ endings: StreamEndings
  ) async throws {
    let work = Task { try await group.engine.wait(for: names, timeout: max(timeout, look)) }
    let ending = endings.add { work.cancel() }
    defer { endings.forget(ending) }
    do {
      try await withTaskCancellationHandler {
        try await work.value
      } onCancel: {
        work.cancel()
      }
    } catch {
      if endings.isOver { throw stopping }
      guard let error = error as? SyncError, error.code != .cancelled else { throw error }
      if error.code == .timedOut {
        let asked = try group.engine.status().replicas.filter { names.contains($0.name) }
        let late = asked.filter {
          $0.lagTransactions != 0 || $0.lastError != nil || $0.held.count > 0
        }
        let behind = late.isEmpty ? asked : late
        throw ControlError.waitTimedOut(
          behind: late.isEmpty ? names : late.map(\.name),
          reason: behind.map(\.lack).joined(separator: "; "))
      }
      let troubled = error.replicas.isEmpty ? names : error.replicas
      throw ControlError(error, replica: troubled.joined(separator: ", "))
    }
  }
}

extension LinkStatus {
  /// How much the replica lacks and why, for people.
  fileprivate var lack: String {
    let lag = lagTransactions ?? 0
    let parts = [
      lag > 0 ? "\(Readable.count(lag, "transaction")) behind" : nil,
      held.count > 0 ? held.text : nil, lastError?.message,
    ].compactMap(\.self)
    return "\(name): \(parts.isEmpty ? phase.word : parts.joined(separator: ", "))"
  }
}
