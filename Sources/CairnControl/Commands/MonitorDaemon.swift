// io.cairn.Daemon.Monitor: the state, then what happens.

/// Streams the status first and what changes afterwards, until the caller ends it.
///
/// Each answer has a number. A caller that was cut off names the last one it has and gets what came
/// later; where that is not known any more, it begins with the status again.
public enum MonitorDaemon: ControlMethod {
  public static let name = "io.cairn.Daemon.Monitor"
  public static let role = ControlRole.status
  public static let isStreaming = true
  public static let declarations: [String] =
    Array(GetStatus.declarations.dropLast()) + [
      """
      # What has happened. state is the daemon's, or what the replica does. A pass has the records it
      # brought, the conflicts that it decided, and the time that it took.
      type Event (
        date: string,
        kind: (state, phase, pass, passFailed, firstSync, quarantined, restored, historyLost, expired,
          returned, clockFellBack, madeAnew),
        replica: ?string,
        state: ?string,
        pulled: ?int,
        pushed: ?int,
        conflicts: ?int,
        milliseconds: ?int,
        text: ?string
      )
      """,
      """
      # See what happens. Needs more: the status comes first, then an event an answer, as they happen.
      # sequence numbers rise by one with each event, and are never given twice, also not by another
      # daemon; with after, the last one that a caller has, the stream goes on behind it without a
      # status. Where the daemon does not have those events any more, a status comes after all, and
      # whenever a caller reads too slowly. Role: status.
      method Monitor(after: ?int) -> (sequence: int, status: ?Status, event: ?Event)
      """,
    ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The number of the last answer that the caller has.
    public var after: Int?
    public init(after: Int? = nil) { self.after = after }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var sequence: Int
    /// How all is at this number; nil with an event.
    public var status: DaemonStatus?
    public var event: Event?

    public init(sequence: Int, status: DaemonStatus? = nil, event: Event? = nil) {
      self.sequence = sequence
      self.status = status
      self.event = event
    }
  }

  /// What has happened.
  public struct Event: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      case state, phase, pass, passFailed, firstSync, quarantined, restored, historyLost, expired,
        returned, clockFellBack, madeAnew
    }
    public var date: WireDate
    public var kind: Kind
    /// Nil for what concerns the daemon.
    public var replica: String?
    /// The daemon's state, or what the replica does.
    public var state: String?
    public var pulled: Int?
    public var pushed: Int?
    public var conflicts: Int?
    /// How long a pass took.
    public var milliseconds: Int?
    /// More, for people.
    public var text: String?

    public init(
      date: WireDate, kind: Kind, replica: String? = nil, state: String? = nil, pulled: Int? = nil,
      pushed: Int? = nil, conflicts: Int? = nil, milliseconds: Int? = nil, text: String? = nil
    ) {
      self.date = date
      self.kind = kind
      self.replica = replica
      self.state = state
      self.pulled = pulled
      self.pushed = pushed
      self.conflicts = conflicts
      self.milliseconds = milliseconds
      self.text = text
    }
  }
}
