// Serves the history of stores.
import CairnControl
import CairnRecords
import CairnStore
import CairnSync

extension HandlerTable {
  mutating func serveHistory() {
    stream(GetHistory.self, reads: true) { [endings] parameters, engine, send in
      let group = try await engine.current()
      let (store, coordinator) = try group.store(named: parameters.name)
      let name = parameters.name ?? StoreReference.localName
      // Before the first look, so that no commit falls between.
      let signal = CommitSignal(store, in: coordinator)
      let ending = endings.add { signal.stop() }
      defer {
        signal.stop()
        endings.forget(ending)
      }
      var reading = try await Blocking.run {
        try HistoryReading(
          parameters, of: store, named: name, model: coordinator.managedObjectModel,
          naming: group.naming, otherStore: group.name(ofStore:))
      }
      try await Self.hand(on: &reading, send)
      guard parameters.follow ?? false else { return .init(token: reading.token) }
      // Says that it follows, and from where on.
      try await send(.init(token: reading.token))
      for await _ in signal.commits { try await Self.hand(on: &reading, send) }
      try Task.checkCancellation()
      if endings.isOver { throw Self.stopping }
      throw ControlError.storeUnavailable(
        name: name, code: StatusProblem.storeClosed,
        reason: "the store was closed; go on from \(reading.token) once it is open")
    }
  }

  static let stopping = ControlError.notReady(
    state: "draining", reason: "the daemon is stopping")

  mutating func serveMonitor(
    _ feed: EventFeed, _ status: @escaping @Sendable () -> DaemonStatus
  ) {
    add(
      ControlHandler(MonitorDaemon.self) { [endings] parameters, send in
        let happenings = feed.listen()
        let ending = endings.add { feed.end() }
        defer { endings.forget(ending) }
        var position = parameters.after
        func sendNews() async throws {
          if let known = position, let events = feed.events(after: known) {
            for (sequence, event) in events {
              try await send(.init(sequence: sequence, event: event))
              position = sequence
            }
          } else {
            // The caller gets an event between the two twice rather than never.
            let sequence = feed.last
            try await send(.init(sequence: sequence, status: status()))
            position = sequence
          }
        }
        try await sendNews()
        for await _ in happenings { try await sendNews() }
        try Task.checkCancellation()
        throw Self.stopping
      })
  }

  /// Sends what is there now.
  private static func hand(
    on reading: inout HistoryReading, _ send: @Sendable (GetHistory.Reply) async throws -> Void
  ) async throws {
    while true {
      let before = reading
      let (after, reply) = try await Blocking.run {
        var reading = before
        let reply = try reading.next()
        return (reading, reply)
      }
      reading = after
      guard let reply else { return }
      if !reply.transactions.isEmpty || reply.keptSince != nil { try await send(reply) }
      try Task.checkCancellation()
    }
  }
}

extension OpenGroup {
  /// The replica whose history a token is a place in; nil when it is the local store's.
  ///
  /// Reads stores.
  ///
  /// - Throws: ``CairnControl/ControlError``: it is no token, or of a store that is not open here, or the store has
  ///   not come so far, as after it went back in time.
  func replica(ofToken token: String) throws -> String? {
    guard let place = HistoryPosition(token) else { throw ControlError.invalidParameter("token") }
    func notThere(_ name: String, _ store: PersistentStore, _ reason: String) throws -> ControlError
    {
      .historyNotThere(name: name, reason: reason, oldest: try store.historyToken() ?? "")
    }
    let local = StoreReference.localName
    guard let name = name(ofStore: place.store) else {
      throw try notThere(local, self.local, "it is of no store that is open here")
    }
    let store = try self.store(named: name).store
    let last = try store.capabilities.history?.lastTransactionNumber() ?? 0
    guard place.number <= last else {
      throw try notThere(
        name, store,
        "the store has come to transaction \(last) only; it went back in time, as a restored backup does"
      )
    }
    return name == local ? nil : name
  }

  /// The name of the store with that identifier, where it is one of the group.
  func name(ofStore identifier: String) -> String? {
    if local.identifier?.uppercased() == identifier { return StoreReference.localName }
    let names = (try? engine.status().replicas.map(\.name)) ?? []
    return names.first { name in
      (try? engine.openStore(ofReplica: name))?.store.identifier?.uppercased() == identifier
    }
  }
}
