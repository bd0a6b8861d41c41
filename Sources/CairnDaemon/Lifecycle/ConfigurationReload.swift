// Takes a changed configuration over while the daemon runs.
import CairnControl
import Logging

/// Reloads the configuration: all that has changed, or nothing.
actor ConfigurationReload {
  private var current: LoadedConfiguration
  private let loader: ConfigurationLoader
  private let keeper: EngineKeeper
  private let roles: ControlRoles
  private let destination: LogDestination
  private let conductor: DaemonConductor
  private let logger: Logger
  private let turns = OneAtATime()

  init(
    current: LoadedConfiguration, loader: ConfigurationLoader, keeper: EngineKeeper,
    roles: ControlRoles, destination: LogDestination, conductor: DaemonConductor, logger: Logger
  ) {
    self.current = current
    self.loader = loader
    self.keeper = keeper
    self.roles = roles
    self.destination = destination
    self.conductor = conductor
    self.logger = logger
  }

  /// Reads the files and takes over what has changed; several calls come one after the other.
  ///
  /// - Returns: the keys that have changed.
  /// - Throws: ``CairnControl/ControlError``; nothing has changed then.
  func run() async throws -> [String] {
    try await turns.run {
      try await self.conductor.checkIsUp()
      await self.conductor.handle(.reloadBegan)
      do {
        let changed = try await self.take()
        await self.conductor.handle(.reloadEnded(problem: nil))
        return changed
      } catch {
        let refusal = Self.refusal(error)
        self.log(refusal)
        await self.conductor.handle(.reloadEnded(problem: Self.summary(refusal)))
        throw refusal
      }
    }
  }

  private func take() async throws -> [String] {
    let old = current.configuration
    let loader = loader
    let (loaded, model) = try await Blocking.run { try ConfigurationCheck.loadWithModel(loader) }
    let new = loaded.configuration
    let changes = ConfigurationChanges(from: old, to: new)
    var needingRestart = changes.needingRestart
    if !needingRestart.contains("model"), let model, try await keeper.isModelChanged(to: model) {
      needingRestart.insert("model", at: 0)
    }
    guard needingRestart.isEmpty else {
      throw ControlError.restartNeeded(keys: needingRestart)
    }
    // What can fail comes first, what cannot last.
    do {
      try roles.set(new.control)
    } catch {
      let key = new.control.statusGroup == nil ? "control.adminGroup" : "control.statusGroup"
      throw ConfigurationInvalid(problems: [
        ConfigurationProblem(
          origin: ConfigurationOrigin(source: loader.path), key: key, problem: "\(error)")
      ])
    }
    do {
      // Where nothing has changed, an engine that is missing is tried.
      if changes.isKeeperConcerned || changes.keys.isEmpty {
        try await keeper.take(new, exchanging: changes.isEngineConcerned)
      }
    } catch {
      try? roles.set(old.control)
      throw error
    }
    destination.setLevel(new.log.level)
    current = loaded
    let text =
      changes.keys.isEmpty ? "nothing has changed" : changes.keys.joined(separator: ", ")
    logger.event(
      .reloaded, "configuration reloaded: \(text)", metadata: ["keys": .string(text)])
    return changes.keys
  }

  /// Sets the level of the log until the next reload; nil to look only.
  func setLogLevel(_ level: LogSection.Level?) -> (
    level: LogSection.Level, configured: LogSection.Level
  ) {
    let before = destination.level
    if let level, level != before {
      // The entry is written at the more talkative of the two levels.
      if level.loggerLevel < before.loggerLevel { destination.setLevel(level) }
      logger.event(
        .logLevelSet, "the log's level is \(level.rawValue) until the next reload",
        metadata: ["state": .string(level.rawValue)])
      destination.setLevel(level)
    }
    return (destination.level, current.configuration.log.level)
  }

  /// What is in use, key by key.
  func settings() -> GetConfiguration.Reply {
    let isLevelSet = destination.level != current.configuration.log.level
    return GetConfiguration.Reply(
      file: loader.path,
      settings: current.settings.map { setting in
        if setting.key == "log.level", isLevelSet {
          return .init(
            key: setting.key, value: destination.level.rawValue,
            source: GetConfiguration.Setting.commandSource)
        }
        return .init(
          key: setting.key, value: setting.value,
          source: setting.origin?.source ?? GetConfiguration.Setting.defaultSource,
          line: setting.origin?.line)
      })
  }

  private static func refusal(_ error: any Error) -> ControlError {
    switch error {
    case let error as ControlError: error
    case let error as ConfigurationInvalid:
      .configurationInvalid(problems: error.problems.map(\.description))
    case let error as EngineFailure:
      .storeUnavailable(name: "local", code: error.code, reason: error.reason)
    default: .notReady(state: "serving", reason: "the reload failed: \(error)")
    }
  }

  nonisolated private func log(_ refusal: ControlError) {
    guard case .configurationInvalid(let problems) = refusal else {
      return logger.event(.reloadRefused, "the configuration was not reloaded: \(refusal)")
    }
    for problem in problems { logger.event(.configurationInvalid, "\(problem)") }
  }

  /// The refusal in one line, for the status text.
  private static func summary(_ refusal: ControlError) -> String {
    switch refusal {
    case .configurationInvalid(let problems):
      "the configuration on disk has \(Readable.count(problems.count, "problem"))"
    case .restartNeeded(let keys):
      "not reloaded, needs a restart: \(keys.joined(separator: ", "))"
    default: "not reloaded: \(refusal)"
    }
  }
}

extension LogLevelName {
  init(_ level: LogSection.Level) { self = LogLevelName(rawValue: level.rawValue) ?? .info }
}
