// Which handler serves which method.
import CairnControl

/// The handlers of all methods; each is registered by what it does, in `Handlers`.
///
/// A handler may be called at any time from any task, several at once. It reports failure as
/// ``CairnControl/ControlError`` or an error that `ControlError(describing:store:)` knows; any other
/// error is logged and shown to the caller as an internal failure. A cancelled task means that the
/// caller is gone or that the daemon stops: a handler gives up soon and leaves everything consistent.
struct HandlerTable: Sendable {
  private(set) var handlers: [ControlHandler] = []
  let host: EngineHost
  let endings: StreamEndings

  /// - Parameter endings: Ends the streams that have no end of their own.
  init(
    host: EngineHost, actions: DaemonActions, feed: EventFeed = EventFeed(),
    endings: StreamEndings = StreamEndings()
  ) {
    self.host = host
    self.endings = endings
    serveStatus(actions)
    serveConfiguration(actions)
    serveMetrics(of: host, actions)
    serveStores()
    serveHistory()
    serveMonitor(feed, actions.status)
    serveRestore(actions.restore)
    serveMigration(actions.migrate)
    serveDrain(actions.drain)
    serveSupportBundle(of: host, actions)
    serveLinks()
    serveConflicts()
    serveQuarantine()
    serveParked()
    serveExplanations()
    serveDecisions()
    serveRecords()
    serveIntrospection()
  }

  /// Registers a handler.
  mutating func add(_ handler: ControlHandler) { handlers.append(handler) }

  /// Registers the handler of a method that needs the engine; while there is none, calls are refused
  /// with the reason.
  ///
  /// - Parameter reads: Whether it does no more than read the local store, and is served while that is
  ///   migrated.
  mutating func serve<Method: ControlMethod>(
    _ method: Method.Type, reads: Bool = false,
    _ answer:
      @escaping @Sendable (_ parameters: Method.Parameters, _ engine: GroupEngine) async throws ->
      Method.Reply
  ) {
    stream(method, reads: reads) { parameters, engine, _ in try await answer(parameters, engine) }
  }

  /// The same for a method that answers with a stream: interim answers go to the third argument, the
  /// last one is returned.
  mutating func stream<Method: ControlMethod>(
    _ method: Method.Type, reads: Bool = false,
    _ answer:
      @escaping @Sendable (
        _ parameters: Method.Parameters, _ engine: GroupEngine,
        _ send: @escaping @Sendable (Method.Reply) async throws -> Void
      ) async throws -> Method.Reply
  ) {
    add(
      ControlHandler(method) { [host] parameters, send in
        let engine = try host.current()
        try await engine.admit(reads: reads)
        do {
          return try await answer(parameters, engine, send)
        } catch {
          engine.health.note(error)
          throw await engine.named(error)
        }
      })
  }
}
