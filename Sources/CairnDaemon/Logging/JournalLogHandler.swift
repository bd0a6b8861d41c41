// Writes log lines to journald with all their fields.
import CairnPlatform
import Foundation
import Logging

/// A connection to journald, shared by all handlers.
public final class JournalConnection: Sendable {
  private let socket: DatagramSocket
  private let path: String

  /// Where journald listens.
  public static let standardPath = "/run/systemd/journal/socket"

  /// Opens a socket; nothing is sent yet.
  public init(path: String = JournalConnection.standardPath) throws {
    socket = try DatagramSocket()
    self.path = path
  }

  /// Waits until journald has taken everything, a moment at most.
  func settle() {
    socket.waitUntilRead(timeout: .milliseconds(500))
    // It looks at the process next.
    Thread.sleep(forTimeInterval: 0.01)
  }

  /// Sends an entry; one too big for a datagram goes as a sealed memory file.
  func send(_ entry: SystemdJournalEntry) throws {
    let bytes = entry.bytes
    do {
      try socket.send(bytes, to: path)
    } catch let error as PlatformError where error.code == .tooBig || error.code == .noBuffers {
      try socket.send(attaching: SealedMemory(name: "cairnd-journal", bytes: bytes), to: path)
    }
  }
}

/// A log handler for journald's native protocol.
public struct JournalLogHandler: LogHandler {
  public var logLevel: Logger.Level = .info
  public var metadata: Logger.Metadata = [:]
  public var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let connection: JournalConnection
  private let fallback: StreamLogHandler

  /// Logs to `connection`, and to standard error when journald does not answer.
  public init(label: String, connection: JournalConnection) {
    self.label = label
    self.connection = connection
    fallback = StreamLogHandler(label: label, format: .logfmt)
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    do {
      try connection.send(entry(event))
    } catch {
      fallback.log(event: event)
    }
  }

  func entry(_ event: LogEvent) -> SystemdJournalEntry {
    var entry = SystemdJournalEntry()
    entry.add("MESSAGE", event.message.description)
    entry.add("PRIORITY", String(SystemdJournalEntry.priority(event.level)))
    entry.add("SYSLOG_IDENTIFIER", HostIdentity.processName)
    entry.add("CODE_FILE", event.file)
    entry.add("CODE_LINE", String(event.line))
    entry.add("CODE_FUNC", event.function)
    entry.add("CAIRN_LOGGER", label)
    if let error = event.error { entry.add("CAIRN_ERROR", String(describing: error)) }
    let all = LogFields.merged(metadata, provider: metadataProvider, event: event.metadata)
    for (key, value) in all {
      if key == DaemonEvent.metadataKey, let kind = DaemonEvent(rawValue: value) {
        entry.add("MESSAGE_ID", kind.messageID)
      }
      entry.add(SystemdJournalEntry.metadataFieldName(key), value)
    }
    return entry
  }
}
