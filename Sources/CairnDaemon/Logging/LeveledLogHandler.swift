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

/// Passes on to another handler what is important enough by the shared level, or by its own.
struct LeveledLogHandler: LogHandler {
  private var base: any LogHandler
  /// Gets what the base gets.
  private var memory: any LogHandler
  private let shared: SharedLogLevel
  private var own: Logger.Level?

  init(_ base: some LogHandler, _ memory: some LogHandler, _ shared: SharedLogLevel) {
    self.base = base
    self.memory = memory
    self.shared = shared
    // What comes here has been judged.
    self.base.logLevel = .trace
  }

  var logLevel: Logger.Level {
    get { own ?? shared.current }
    set { own = newValue }
  }
  var metadata: Logger.Metadata {
    get { base.metadata }
    set {
      base.metadata = newValue
      memory.metadata = newValue
    }
  }
  var metadataProvider: Logger.MetadataProvider? {
    get { base.metadataProvider }
    set {
      base.metadataProvider = newValue
      memory.metadataProvider = newValue
    }
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { base[metadataKey: key] }
    set {
      base[metadataKey: key] = newValue
      memory[metadataKey: key] = newValue
    }
  }

  func log(event: LogEvent) {
    base.log(event: event)
    memory.log(event: event)
  }
}
