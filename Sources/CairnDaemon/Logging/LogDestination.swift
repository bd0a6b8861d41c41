// Decides where log lines go.
import CairnPlatform
import Logging

/// Makes loggers as the configuration and the surroundings want them.
public struct LogDestination: Sendable {
  private let makeHandler: @Sendable (String) -> any LogHandler
  private let shared: SharedLogLevel
  private let journal: SystemdJournal?
  /// The last lines, as a support bundle has them.
  let recorder: FlightRecorder

  /// Chooses by the configuration; `auto` means the journal when standard error leads to it.
  public init(_ section: LogSection, environment: [String: String]) {
    let level = SharedLogLevel(section.level.loggerLevel)
    shared = level
    let recorder = FlightRecorder(
      folder: VariableExpansion.folder("RUNTIME_DIRECTORY", in: environment))
    self.recorder = recorder
    var journal: SystemdJournal?
    switch section.format {
    case .journal: journal = SystemdJournal.isThere ? .system : nil
    case .auto:
      if Self.leadsToJournal(environment) { journal = .system }
    case .logfmt, .json: break
    }
    let format: StreamLogHandler.Format = section.format == .json ? .json : .logfmt
    self.journal = journal
    makeHandler = { [journal] label in
      let memory = StreamLogHandler(label: label, format: .logfmt) { recorder.add($0) }
      if let journal {
        return LeveledLogHandler(
          JournalLogHandler(label: label, journal: journal), memory, level)
      }
      return LeveledLogHandler(StreamLogHandler(label: label, format: format), memory, level)
    }
  }

  /// Changes the level of every logger made here but for those that have a level of their own.
  public func setLevel(_ new: LogSection.Level) { shared.set(new.loggerLevel) }

  /// The level of those loggers.
  var level: LogSection.Level { LogSection.Level(shared.current) }

  /// To be called before the process ends soon after it has begun: journald asks the kernel which unit an
  /// entry is of, which does not know that of a process that is gone.
  public func settle() { journal?.settle() }

  /// A logger for one part of the daemon.
  public func logger(_ label: String) -> Logger {
    Logger(label: label) { makeHandler($0) }
  }

  /// Whether `$JOURNAL_STREAM` names what is behind standard error.
  static func leadsToJournal(_ environment: [String: String]) -> Bool {
    guard let stream = environment["JOURNAL_STREAM"] else { return false }
    return stream == StandardStream.error.deviceAndInode
  }
}

extension LogSection.Level {
  init(_ level: Logger.Level) { self = Self.allCases.first { $0.loggerLevel == level } ?? .info }

  var loggerLevel: Logger.Level {
    switch self {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error: .error
    case .critical: .critical
    }
  }
}
