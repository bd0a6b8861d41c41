// A log level that all loggers share and that can change.
import Logging
import Synchronization

/// The least important level that is logged.
///
/// Mutable state: the level, atomic; asked for with every line that may be logged.
final class SharedLogLevel: Sendable {
  private let index: Atomic<Int>

  init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

  var current: Logger.Level { Logger.Level.allCases[index.load(ordering: .relaxed)] }
  func set(_ level: Logger.Level) { index.store(Self.index(of: level), ordering: .relaxed) }

  private static func index(of level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}

/// Passes on to another handler what is important enough by the shared level, or by its own, and to the flight recorder
/// more than that.
struct LeveledLogHandler: LogHandler {
  /// What the recorder gets at least from loggers without a level of their own.
  ///
  /// Not trace: that may quote what records hold.
  private static let recorded = Logger.Level.debug

  private var base: any LogHandler
  private var recorder: any LogHandler
  private let shared: SharedLogLevel
  private var own: Logger.Level?

  init(_ base: some LogHandler, _ recorder: some LogHandler, _ shared: SharedLogLevel) {
    self.base = base
    self.recorder = recorder
    self.shared = shared
    // What comes here has been judged.
    self.base.logLevel = .trace
  }

  /// What is made into an entry at all.
  var logLevel: Logger.Level {
    get { own ?? min(shared.current, Self.recorded) }
    set { own = newValue }
  }
  var metadata: Logger.Metadata {
    get { base.metadata }
    set {
      base.metadata = newValue
      recorder.metadata = newValue
    }
  }
  var metadataProvider: Logger.MetadataProvider? {
    get { base.metadataProvider }
    set {
      base.metadataProvider = newValue
      recorder.metadataProvider = newValue
    }
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { base[metadataKey: key] }
    set {
      base[metadataKey: key] = newValue
      recorder[metadataKey: key] = newValue
    }
  }

  func log(event: LogEvent) {
    if event.level >= own ?? shared.current { base.log(event: event) }
    if event.level >= Self.recorded { recorder.log(event: event) }
  }
}
