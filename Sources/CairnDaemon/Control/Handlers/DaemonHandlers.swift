// Serves io.cairn.Daemon and org.varlink.service.
import CairnControl
import CairnSync

extension HandlerTable {
  mutating func serveStatus(_ actions: DaemonActions) {
    add(
      .remembering(
        GetStatus.self, atHand: { actions.statusAtHand().map(GetStatus.Reply.init) }
      ) { .init(status: actions.status()) })
  }

  mutating func serveConfiguration(_ actions: DaemonActions) {
    add(
      ControlHandler(ReloadConfiguration.self) { _, _ in
        .init(changed: try await actions.reload())
      })
    add(ControlHandler(GetConfiguration.self) { _, _ in try await actions.configuration() })
    add(
      ControlHandler(SetLogLevel.self) { parameters, _ in
        try await actions.logLevel(parameters.level)
      })
  }

  /// Works without an engine, too: a store that does not open is what backups are for.
  mutating func serveRestore(_ restore: @escaping DaemonActions.Restore) {
    let restoring = ExclusiveWork("another restore")
    add(
      ControlHandler(RestoreStore.self) { parameters, send in
        try await restoring.run {
          try await InterimReports.sending({ (progress: StoreCopyProgress) in
            try await send(
              .init(
                path: parameters.backup, content: .init(records: 0, bytes: 0), progress: progress))
          }) { report in try await restore(parameters, report) }
        }
      })
  }

  mutating func serveMigration(_ migrate: @escaping DaemonActions.Migrate) {
    let migrating = ExclusiveWork("another migration")
    add(
      ControlHandler(MigrateStores.self) { parameters, send in
        try await migrating.run {
          do {
            try await migrate(parameters, send)
          } catch {
            throw ControlError(
              describing: error, store: parameters.name ?? StoreReference.localName) ?? error
          }
        }
        return .init()
      })
  }

  mutating func serveDrain(
    _ drain: @escaping @Sendable (Duration) async throws -> DrainDaemon.Reply
  ) {
    add(
      ControlHandler(DrainDaemon.self) { parameters, _ in
        let timeout = parameters.timeout ?? 30
        guard (0...86400).contains(timeout) else { throw ControlError.invalidParameter("timeout") }
        return try await drain(.seconds(timeout))
      })
  }

  mutating func serveMetrics(
    of host: EngineHost, _ actions: DaemonActions
  ) {
    add(
      ControlHandler(GetMetrics.self) { _, _ in
        .init(text: await MetricsReport(actions.status(), of: host, actions.figures).text)
      })
  }

  /// Registers what tells of all others, those that are registered later excepted.
  mutating func serveIntrospection() {
    let own: [any ControlMethod.Type] = [GetInfo.self, GetInterfaceDescription.self]
    let service = ServiceDescription(methods: own + handlers.map(\.method))
    add(
      .remembering(GetInfo.self) {
        .init(
          vendor: "Cairn", product: "cairnd", version: CairnVersion.text, url: "",
          interfaces: service.interfaces.map(\.name))
      })
    add(
      ControlHandler(GetInterfaceDescription.self) { parameters, _ in
        guard let interface = service.interface(named: parameters.interface) else {
          throw ControlError.interfaceNotFound(parameters.interface)
        }
        return .init(description: interface.text)
      })
  }
}
