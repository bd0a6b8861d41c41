// The daemon from its first line to its exit code.
import CairnContext
import CairnControl
import CairnPlatform
import CairnSync
import Foundation
import Logging
import ServiceLifecycle

/// Runs the daemon: configuration, socket, engine, watchdog, signals.
public struct DaemonProcess: Sendable {
  private let loader: ConfigurationLoader
  private let environment: [String: String]
  private let notifier: ServiceNotifier
  private let syncEnvironment: SyncEnvironment
  private let isDriven: Bool

  /// Prepares a daemon.
  ///
  /// - Parameter pausesAtSteps: Whether another program lets each step of sync go on; see ``StepGate``.
  public init(
    loader: ConfigurationLoader, notifier: ServiceNotifier = .system,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    pausesAtSteps: Bool = false
  ) {
    // Before anything is opened.
    StandardStream.fillClosed()
    self.loader = loader
    self.notifier = notifier
    self.environment = environment
    isDriven = pausesAtSteps
    syncEnvironment = pausesAtSteps ? StepGate().environment : .live
  }

  /// The steps of sync at which it pauses where that is asked for.
  ///
  /// But for those that only stores without their history come by, an operator who discards, and links to logs, of
  /// which the daemon has none.
  public static var stepNames: [String] {
    let left: Set<SyncEnvironment.Failpoint> = [
      .afterGapCommit, .afterDiscardNote, .beforeAppend, .afterAppend,
    ]
    return SyncEnvironment.Failpoint.allCases.filter { !left.contains($0) }.map(\.rawValue)
  }

  /// The manual page of the control protocol.
  public static var protocolManual: String {
    ProtocolManual(
      ServiceDescription(
        methods: HandlerTable(host: EngineHost(), actions: .idle).handlers.map(\.method))
    ).text
  }

  /// Checks the configuration and writes all problems to standard error.
  public func checkConfiguration() -> ExitStatus {
    do {
      try ConfigurationCheck.load(loader)
      return .stopped
    } catch {
      StandardStream.error.write(Array("\(error)\n".utf8))
      return .configuration
    }
  }

  /// Runs until told to stop.
  public func run() async -> ExitStatus {
    ProcessConduct.letWritesFail()
    ProcessConduct.ignoreServiceSignals()
    // A daemon rather stops, and is started again, than write what two threads made at once.
    ConcurrencyDebug.turnOn()
    let activation = SocketActivation.take()
    let loaded: LoadedConfiguration
    do {
      loaded = try loader.loadSettings()
    } catch {
      let all = await everythingWrong()
      return refuseToStart(all ?? error, activation: activation)
    }
    let configuration = loaded.configuration
    if UserNamespace.hidesUsers {
      return refuseToStart(
        ConfigurationInvalid(problems: [Self.hiddenUsers(loader.path)]), activation: activation)
    }
    let destination = LogDestination(configuration.log, environment: environment)
    let logger = destination.logger("cairnd")
    for name in activation.unknown {
      logger.event(
        .socketUnknown, "a socket was passed in that nobody wants",
        metadata: ["socket": .string(name)])
    }
    notifier(.status("Starting"))
    let ownership = StoreOwnership(of: configuration.local.path)
    do {
      try ownership.take()
    } catch {
      // Else the engine finds the same, again and again: the daemon is up, says who has the store, and takes it
      // over when that one ends.
      if !isSupervised(activation) {
        defer { destination.settle() }
        return leave(to: error, logger)
      }
    }
    do {
      try await serve(loaded, activation, ownership, destination, logger)
      logger.event(.stopped, "stopped")
      return .stopped
    } catch {
      defer { destination.settle() }
      return end(after: error, logger)
    }
  }

  private func serve(
    _ loaded: LoadedConfiguration, _ activation: SocketActivation,
    _ ownership: StoreOwnership, _ destination: LogDestination, _ logger: Logger
  ) async throws {
    let configuration = loaded.configuration
    let watch = await SignalWatch()
    let (host, figures) = (EngineHost(), ServiceFigures())
    let (feed, endings) = (EventFeed(), StreamEndings())
    let conductor = DaemonConductor(notifier: notifier, feed: feed, logger: logger)
    let keeper = EngineKeeper(
      configuration: configuration, ownership: ownership, host: host, conductor: conductor,
      feed: feed, logger: destination.logger("engine"), environment: syncEnvironment)
    let settings = Self.settings(configuration.control)
    let roles = ControlRoles(settings, passed: activation.control, isDriven: isDriven)
    let kept = keptSocket(activation)
    let reload = ConfigurationReload(
      current: loaded, loader: loader, keeper: keeper, roles: roles,
      destination: destination, conductor: conductor, logger: logger)
    let status: @Sendable () -> DaemonStatus = { conductor.status(engine: host.status()) }
    let statusAtHand: @Sendable () -> DaemonStatus? = {
      host.statusAtHand.map(conductor.status(engine:))
    }
    let dispatcher = ControlDispatcher(
      handlers: HandlerTable(
        host: host,
        actions: Self.actions(
          status: status, statusAtHand: statusAtHand, reload: reload, keeper: keeper,
          recorder: destination.recorder, figures: figures),
        feed: feed, endings: endings
      ).handlers, logger: destination.logger("control"), figures: figures)
    let server = ControlServer(
      settings: settings, passed: activation.control, kept: kept, roles: roles,
      figures: figures, dispatcher: dispatcher, endings: endings,
      logger: destination.logger("control")
    ) { await conductor.handle(.controlListening) }
    let engine = EngineService(keeper: keeper, conductor: conductor)
    var services: [any Service] = [engine, server]
    if configuration.metrics.isOn || !activation.metrics.isEmpty {
      services.append(
        MetricsServer(
          section: configuration.metrics, passed: activation.metrics,
          group: configuration.control.statusGroup,
          logger: destination.logger("metrics")
        ) { request in await Self.answer(request, host, figures, status()) })
    }
    if let interval = WatchdogInterval.requested() {
      // First in the list, so last to stop: a drain is watched too.
      services.insert(
        WatchdogService(
          interval: interval, notifier: notifier, conductor: conductor, logger: logger,
          figures: figures,
          sources: .init(
            call: {
              await ControlServer.turn()
              _ = status()
            }, group: { await host.watched() })), at: 0)
    }
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .error)
    let group = ServiceGroup(services: services, logger: quiet)
    let running = Task { try await group.run() }
    await conductor.connect(
      shutdown: {
        Self.endInTime(logger)
        await group.triggerGracefulShutdown()
      }, abort: { running.cancel() },
      // What keeps it from reloading is in the log.
      reload: { Task { try? await reload.run() } })
    let signals = Task {
      await watch.run(conductor) {
        StateReport(status: status()).write(to: logger)
      }
    }
    defer { signals.cancel() }
    do {
      try await running.value
    } catch is CancellationError {
      // The second signal: asked for, so no failure.
    }
  }

  /// The socket that the daemon makes; where a socket unit makes one, what was kept goes.
  private func keptSocket(_ activation: SocketActivation) -> KeptSocket? {
    let kept = KeptSocket(passed: activation.kept, notifier: notifier)
    if activation.control.isEmpty { return kept }
    if activation.kept != nil { kept.forget() }
    return nil
  }

  private static func actions(
    status: @escaping @Sendable () -> DaemonStatus,
    statusAtHand: @escaping @Sendable () -> DaemonStatus?, reload: ConfigurationReload,
    keeper: EngineKeeper, recorder: FlightRecorder, figures: ServiceFigures
  ) -> DaemonActions {
    DaemonActions(
      status: status, statusAtHand: statusAtHand, reload: { try await reload.run() },
      logLevel: { level in
        let levels = await reload.setLogLevel(level.flatMap { .init(rawValue: $0.rawValue) })
        return .init(
          level: .init(levels.level), configured: .init(levels.configured))
      },
      restore: { try await keeper.restore($0, progress: $1) },
      migrate: { try await keeper.migrate($0, $1) },
      drain: { try await keeper.drain(within: $0) }, recentLog: { recorder.text },
      figures: figures, configuration: { await reload.settings() })
  }

  /// Ends the process within the time that was asked for, even when no thread gets on any more.
  private static func endInTime(_ logger: Logger) {
    let patience = DaemonLifecycle.longestStop
    let seconds = patience.components.seconds
    ProcessConduct.exit(after: patience, code: ExitStatus.stopped.rawValue) {
      logger.event(
        .stopForced, "stopping has taken \(seconds) s; the daemon ends at once",
        metadata: ["seconds": "\(seconds)"])
    }
  }

  /// The answer to a scraper or a probe.
  private static func answer(
    _ request: MetricsRequest, _ host: EngineHost, _ figures: ServiceFigures,
    _ status: DaemonStatus
  ) async -> MetricsAnswer {
    switch request.path {
    case "/metrics":
      let report = await MetricsReport(status, of: host, figures)
      return MetricsAnswer(
        status: "200 OK", type: request.format.mediaType, body: report.text(as: request.format))
    // That it is answered is the answer.
    case "/health": return MetricsAnswer(status: "200 OK", body: "\(status.state.rawValue)\n")
    case "/ready":
      return .readiness(
        [status.state.rawValue] + status.problems.map { "\($0.code): \($0.message)" },
        isServing: status.state == .serving)
    default: return .notFound
    }
  }

  private static func settings(_ section: ControlSection) -> ControlServer.Settings {
    var limits = ConnectionTable.Limits()
    limits.total = section.maxConnections
    limits.perUser = max(1, section.maxConnections / 4)
    return ControlServer.Settings(
      path: section.socket, statusGroup: section.statusGroup, adminGroup: section.adminGroup,
      limits: limits)
  }

  /// Where the kernel shows all users but root as one stranger, no group has a role, whatever the configuration says.
  private static func hiddenUsers(_ path: String) -> ConfigurationProblem {
    ConfigurationProblem(
      origin: ConfigurationOrigin(source: path), key: "control.adminGroup",
      problem: "the kernel hides callers from the daemon, so that root alone would have a role",
      remedy: "take PrivateUsers=yes out of the unit, and restart")
  }

  /// What is wrong with the configuration and with what it names, so that its problems come at once; nil where
  /// files take long to answer.
  private func everythingWrong() async -> (any Error)? {
    let loader = loader
    let checked = await Blocking.value(atMost: .seconds(3)) {
      Result { try ConfigurationCheck.load(loader) }
    }
    guard case .failure(let error)? = checked else { return nil }
    return error
  }

  /// Tells the service manager, the log and the clients that wait what is wrong with the configuration.
  private func refuseToStart(_ error: any Error, activation: SocketActivation) -> ExitStatus {
    let problems = (error as? ConfigurationInvalid)?.problems.map(\.description) ?? ["\(error)"]
    let invalid = 22
    notifier(
      NotifyMessage.status("Configuration: \(problems.first ?? "not valid")")
        .and(.failure(errno: Int32(invalid), name: "ConfigurationInvalid")))
    let destination = LogDestination(LogSection(), environment: environment)
    let logger = destination.logger("cairnd")
    for problem in problems { logger.event(.configurationInvalid, "\(problem)") }
    destination.settle()
    WaitingClients.refuse(
      activation.listening, with: .configurationInvalid(problems: problems),
      scrapers: activation.metrics)
    return .configuration
  }

  /// Whether a service manager has started it, which would start a daemon that ends again and again.
  private func isSupervised(_ activation: SocketActivation) -> Bool {
    environment["NOTIFY_SOCKET"] != nil || !activation.listening.isEmpty
  }

  /// Leaves the local store to the daemon that has it.
  private func leave(to taken: StoreTaken, _ logger: Logger) -> ExitStatus {
    logger.event(
      .storeTaken, "\(taken)",
      metadata: ["owner": .string(taken.owner.map(String.init(describing:)) ?? "unknown")])
    return .unavailable
  }

  private func end(after error: any Error, _ logger: Logger) -> ExitStatus {
    let platform = error as? PlatformError
    var metadata: Logger.Metadata = ["errorCode": .string(platform?.code.word ?? "unexpected")]
    metadata["path"] = platform?.path.map { .string($0) }
    logger.event(
      .failed, "the daemon ends: \(String(describing: error))", metadata: metadata)
    guard let error = platform else { return .software }
    notifier(
      NotifyMessage.status("Failed: \(error)")
        .and(.failure(errno: error.code.rawValue, name: "InternalFailure")))
    switch error.code {
    case .accessDenied, .notPermitted: return .noPermission
    case .ioFailure: return .ioError
    case .inUse: return .unavailable
    default: return .temporaryFailure
    }
  }
}
