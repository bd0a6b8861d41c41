// The kinds of events that people and programs look for in the log by their number.
import Logging

/// A kind of event with an ID that never changes (`journalctl MESSAGE_ID=…`).
///
/// Each of level warning or worse has an entry in `systemd/cairn.catalog`.
public enum DaemonEvent: String, Sendable, CaseIterable {
  case started
  case stopping
  case stopped
  case degraded
  case recovered
  case configurationInvalid
  case reloaded
  case callRefused
  case callFailed
  case connectionDropped
  case probeOverdue
  case storeUnavailable
  case storeAvailable
  case storeAdded
  case storeRemoved
  case storesDiffer
  case recordQuarantined
  case recordsHeld
  case approvalNeeded
  case clockSkew
  case replicaExpired
  case linkStopped

  /// The 128-bit ID in 32 hexadecimal digits.
  public var messageID: String {
    switch self {
    case .started: "bf4784d43bba4af0b477b1100e4df03c"
    case .stopping: "95fd07c3445e4d29a14dfff6b0e98a7e"
    case .stopped: "c722aa05240b4d548c8bca5c53b9dd2e"
    case .degraded: "670a7c3de74345b080f60903698920df"
    case .recovered: "13ca7cec4c7d495eb16b272797366d85"
    case .configurationInvalid: "ef7bd3ffc4d043908112fa4be3b3a160"
    case .reloaded: "509d18542e3c4817bc04543568630196"
    case .callRefused: "8151e773af464bdfa484fe9f4b4aaba3"
    case .callFailed: "d3b1132a6e844c43988469e3c15047d0"
    case .connectionDropped: "ec18b93c95ce4609b20e86a58e1286fc"
    case .probeOverdue: "a158a99f0e1c49b5bc58e0a80aeff03e"
    case .storeUnavailable: "ef2db30f46204435b77c0e92c20d20f5"
    case .storeAvailable: "19f02488b88a45949ee0fbf933355016"
    case .storeAdded: "bbef9dca41c645d5974b10661e5145ec"
    case .storeRemoved: "de6e523da2594f38ae110b18c7a00889"
    case .storesDiffer: "c5021b3b23144d7dbb9a86182bb76283"
    case .recordQuarantined: "7347524031bb4ee0994b1298fc8e9e09"
    case .recordsHeld: "4b98138d41d642f490b9c6da9209371a"
    case .approvalNeeded: "05003e4630ff4dc2961bca601936dcc7"
    case .clockSkew: "8099f6ed3beb4a6085faebb441c87bc7"
    case .replicaExpired: "b7a3f0d2c5e84a6f9d1b64e08c2f7a95"
    case .linkStopped: "36f0ed51358f4061b9bbb6ae6b15f120"
    }
  }

  /// The level the event is logged at.
  public var level: Logger.Level {
    switch self {
    case .started, .stopping, .stopped, .recovered, .reloaded, .storeAvailable, .storeAdded,
      .storeRemoved:
      .notice
    case .callRefused, .connectionDropped: .notice
    case .degraded, .storeUnavailable, .probeOverdue, .recordQuarantined, .recordsHeld,
      .approvalNeeded, .clockSkew, .replicaExpired:
      .warning
    case .configurationInvalid, .callFailed, .storesDiffer, .linkStopped: .error
    }
  }

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
