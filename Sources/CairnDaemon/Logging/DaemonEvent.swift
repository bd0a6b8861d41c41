// The kinds of events that people and programs look for in the log by their number.
import Logging

/// A kind of event with an ID that never changes (`journalctl MESSAGE_ID=…`).
///
/// At level info and above the daemon logs nothing else. What each means is in ``EventEntry``, from which
/// `systemd/cairn.catalog` and the documentation's page come.
public enum DaemonEvent: String, Sendable, CaseIterable {
  case started
  case stopping
  case stopForced
  case drained
  case stopped
  case failed
  case degraded
  case recovered
  case configurationInvalid
  case reloaded
  case logLevelSet
  case socketUnknown
  case reloadRefused
  case stateReported
  case callRefused
  case callFailed
  case connectionDropped
  case acceptFailed
  case probeOverdue
  case metricsUnavailable
  case storeUnavailable
  case storeAvailable
  case storeTaken
  case storeAdded
  case storeRemoved
  case storeMigrated
  case storesDiffer
  case storeRestored
  case backupRestored
  case historyLost
  case replicaExpired
  case replicaReturned
  case replicaMadeAnew
  case localStoreMade
  case recordQuarantined
  case recordsHeld
  case approvalNeeded
  case clockSkew
  case linkStopped
  case passesCompleted
  case purged

  /// The 128-bit ID in 32 hexadecimal digits.
  public var messageID: String { entry.id }

  /// The level the event is logged at.
  public var level: Logger.Level { entry.level }

  /// The metadata key under which handlers find the event.
  public static let metadataKey = "event"
}

extension Logger {
  /// Logs an event at its own level, so that it can be found by its ID.
  public func event(
    _ event: DaemonEvent, _ message: @autoclosure () -> Logger.Message,
    metadata: Logger.Metadata = [:], file: String = #fileID, function: String = #function,
    line: UInt = #line
  ) {
    log(
      level: event.level, message(),
      metadata: metadata.merging([DaemonEvent.metadataKey: .string(event.rawValue)]) { $1 },
      file: file, function: function, line: line)
  }
}
