// What handlers ask of the daemon as a process.
import CairnControl

/// The daemon's own deeds, as functions: handlers know nothing of how they are done.
struct DaemonActions: Sendable {
  typealias Migrate =
    @Sendable (
      _ parameters: MigrateStores.Parameters,
      _ send: @escaping @Sendable (MigrateStores.Reply) async throws -> Void
    ) async throws -> Void

  typealias Restore =
    @Sendable (
      _ parameters: RestoreStore.Parameters,
      _ progress: @escaping @Sendable (StoreCopyProgress) -> Void
    ) async throws -> RestoreStore.Reply

  /// The status at every time of its life.
  var status: @Sendable () -> DaemonStatus
  /// The same where it needs to read no store now; nil otherwise.
  var statusAtHand: @Sendable () -> DaemonStatus? = { nil }
  /// Takes the configuration on disk over; returns the keys that have changed.
  var reload: @Sendable () async throws -> [String]
  /// Sets the level of the log, or looks only.
  var logLevel: @Sendable (LogLevelName?) async throws -> SetLogLevel.Reply
  /// Puts a backup in the place of the local store; its second argument takes how far that is.
  var restore: Restore
  /// Brings stores to the current version of the model; interim answers go to its second argument.
  var migrate: Migrate
  /// Finishes what is under way before a planned shutdown.
  var drain: @Sendable (_ limit: Duration) async throws -> DrainDaemon.Reply
  /// The last lines of the log.
  var recentLog: @Sendable () -> String
  /// What is counted of the service itself.
  var figures = ServiceFigures()
  /// The configuration in use.
  var configuration: @Sendable () async throws -> GetConfiguration.Reply
}

extension DaemonActions {
  /// Those of a daemon that does nothing, for what looks at the methods alone.
  static var idle: DaemonActions {
    DaemonActions(
      status: { DaemonStatus(version: "", pid: 0, startedAt: .now, state: .serving) },
      reload: { [] }, logLevel: { _ in .init(level: .info, configured: .info) },
      restore: { parameters, _ in
        .init(path: parameters.backup, content: .init(records: 0, bytes: 0))
      },
      migrate: { _, _ in }, drain: { _ in .init() }, recentLog: { "" },
      configuration: { .init(file: "", settings: []) })
  }
}
