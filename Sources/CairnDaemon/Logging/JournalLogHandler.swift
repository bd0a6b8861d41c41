// Writes log lines to journald with all their fields.
import CSystemd
import CairnPlatform
import Foundation
import Logging

/// Sends entries to journald, through libsystemd.
public struct SystemdJournal: Sendable {
  private let send: @Sendable (SystemdJournalEntry) -> Int32

  /// Sends to the journal of this machine.
  ///
  /// libsystemd says nothing where no journald was ever started; ``isThere`` tells.
  public static let system = SystemdJournal { entry in
    entry.withFields { sd_journal_sendv($0.baseAddress, Int32($0.count)) }
  }

  /// Whether this machine has a journal to write to.
  public static var isThere: Bool { (try? FileFacts(path: "/run/systemd/journal/socket")) != nil }

  /// Sends to a closure, for tests; it answers as libsystemd does, with 0 or a negative error number.
  init(send: @escaping @Sendable (SystemdJournalEntry) -> Int32) { self.send = send }

  /// - Throws: ``CairnPlatform/PlatformError`` when journald does not take it.
  func callAsFunction(_ entry: SystemdJournalEntry) throws {
    let answer = send(entry)
    if answer < 0 {
      throw PlatformError("write to the journal", code: ErrnoCode(rawValue: -answer))
    }
  }

  /// Gives journald the time to read what was sent last, and to look at the process after it.
  ///
  /// libsystemd does not tell when that has happened.
  func settle() { Thread.sleep(forTimeInterval: 0.25) }
}

/// A log handler for the journal.
public struct JournalLogHandler: LogHandler {
  public var logLevel: Logger.Level = .info
  public var metadata: Logger.Metadata = [:]
  public var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let journal: SystemdJournal
  private let fallback: StreamLogHandler

  /// Logs to `journal`, and to standard error when journald does not answer.
  public init(label: String, journal: SystemdJournal) {
    self.label = label
    self.journal = journal
    fallback = StreamLogHandler(label: label, format: .logfmt)
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    do {
      try journal(entry(event))
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
