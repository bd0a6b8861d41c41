import CairnPlatform
import CairnTesting
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

private final class Lines: Sendable {
  private let all = Mutex<[[UInt8]]>([])
  var first: [UInt8] { all.withLock { $0.first ?? [] } }
  func add(_ line: [UInt8]) { all.withLock { $0.append(line) } }
}

@Suite struct LoggingTests {
  private func event(_ message: Logger.Message, _ metadata: Logger.Metadata = [:]) -> LogEvent {
    LogEvent(
      level: .warning, message: message, metadata: metadata, source: "s", file: "F.swift",
      function: "f()", line: 7)
  }

  @Test func journalValuesNeverBecomeFields() throws {
    var entry = SystemdJournalEntry()
    entry.add("CAIRN_REPLICA", "a\nPRIORITY=0\nCAIRN_ROLE=admin")
    entry.add("MESSAGE", "")
    let fields = entry.withFields { fields in
      fields.map {
        String(
          decoding: UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len), as: UTF8.self)
      }
    }
    #expect(fields == ["CAIRN_REPLICA=a\nPRIORITY=0\nCAIRN_ROLE=admin", "MESSAGE="])
  }

  @Test(arguments: [
    ("replicaKind", "CAIRN_REPLICA_KIND"), ("errno", "ERRNO"), ("clientUid", "CAIRN_CLIENT_UID"),
    ("häß lich", "CAIRN_H___LICH"),
  ])
  func metadataKeysBecomeFieldNames(_ key: String, _ name: String) {
    var entry = SystemdJournalEntry()
    entry.add(SystemdJournalEntry.metadataFieldName(key), "x")
    #expect(entry.fields.map(\.name) == [name])
  }

  @Test func eventsReachTheJournalWithTheirID() throws {
    let entries = Mutex<[SystemdJournalEntry]>([])
    let journal = SystemdJournal { entry in
      entries.withLock { $0.append(entry) }
      return 0
    }
    let logger = Logger(label: "test") { JournalLogHandler(label: $0, journal: journal) }
    logger.event(.degraded, "it is", metadata: ["errorCode": "storeLocked"])
    let fields = try #require(entries.withLock { $0.first }).fields.map { "\($0.name)=\($0.value)" }
    #expect(fields.contains("MESSAGE_ID=\(DaemonEvent.degraded.messageID)"))
    #expect(fields.contains("CAIRN_ERROR_CODE=storeLocked"))
  }

  @Test func whatJournaldDoesNotTakeIsAnErrorWithItsReason() {
    let journal = SystemdJournal { _ in -ECONNREFUSED }
    let error = #expect(throws: PlatformError.self) { try journal(SystemdJournalEntry()) }
    #expect(error?.code.rawValue == ECONNREFUSED)
  }

  @Test func everyEventHasAnIDOfItsOwnAndItsTextNamesItsFields() throws {
    let ids = DaemonEvent.allCases.map(\.messageID)
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    for event in DaemonEvent.allCases {
      let entry = event.entry
      let names = entry.fields.map(\.journalName)
      for match in (entry.subject + entry.text).matches(of: /@(\w+)@/) {
        #expect(names.contains(String(match.output.1)), "\(event): \(match.output.0)")
      }
    }
  }

  @Test(arguments: [
    ("systemd/cairn.catalog", EventTable.catalog),
    ("Sources/Cairn/Cairn.docc/EventsInTheLog.md", EventTable.page),
  ])
  func theCatalogueAndThePageComeFromTheTable(_ path: String, _ text: String) throws {
    let file = Project.file(path)
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    let stored = try String(contentsOfFile: file, encoding: .utf8)
    #expect(stored == text, "RECORD_GOLDEN=1 writes it anew")
  }

  @Test func atLevelInfoAndAboveTheDaemonLogsEventsOnly() throws {
    var found = 0
    for folder in ["Sources/CairnDaemon", "Sources/cairnd"] {
      let names = FileManager.default.enumerator(atPath: Project.file(folder))?.allObjects ?? []
      for case let name as String in names where name.hasSuffix(".swift") {
        let text = try String(
          contentsOfFile: Project.file("\(folder)/\(name)"), encoding: .utf8)
        found += text.matches(of: /\.event\(\s*\./).count
        let others = text.matches(of: /[lL]og(ger)?\.(info|notice|warning|error|critical)\(/)
        #expect(others.isEmpty, "\(folder)/\(name): an event of the table is wanted")
      }
    }
    #expect(found > 20)
  }

  @Test func whatRepeatsIsLoggedOnceAnInterval() {
    let throttle = EventThrottle(interval: 100)
    #expect(throttle.isDue("a", now: 1000))
    #expect(!throttle.isDue("a", now: 1099))
    #expect(throttle.isDue("b", now: 1099))
    #expect(throttle.isDue("a", now: 1100))
    // A thread that has looked at the clock before another, and comes behind it.
    #expect(!throttle.isDue("a", now: 1099))
    // A flood of subjects is none that fills the memory, or the log.
    let due = (0..<5000).count { throttle.isDue("\($0)", now: 1150) }
    #expect(due < 1000)
    #expect(throttle.isDue("c", now: 1300))
  }

  @Test func passesAreSummedUpByReplica() {
    var summary = PassSummary()
    summary.add(replica: "b", pulled: 0, pushed: 0, conflicts: 0, now: 1)
    #expect(summary.isEmpty, "what moves nothing is not counted")
    summary.add(replica: "b", pulled: 1, pushed: 2, conflicts: 0, now: 2)
    summary.add(replica: "a", pulled: 3, pushed: 0, conflicts: 1, now: 3)
    summary.add(replica: "b", pulled: 4, pushed: 5, conflicts: 6, now: 4)
    let taken = summary.take()
    #expect(taken.map(\.replica) == ["a", "b"])
    #expect(
      taken.last?.sum
        == PassSummary.Sum(passes: 2, pulled: 5, pushed: 7, conflicts: 6, since: 2))
    #expect(summary.isEmpty)
  }

  @Test func aLineStaysOneLine() {
    let lines = Lines()
    let handler = StreamLogHandler(label: "l", format: .logfmt) { lines.add($0) }
    handler.log(event: event("two\nlines\u{1B}[31m", ["na me": "a=\"b\"\u{202E}"]))
    let text = String(decoding: lines.first, as: UTF8.self)
    #expect(
      text.hasSuffix(
        " level=warning msg=\"two\\nlines\\u{1b}[31m\" logger=l na_me=\"a=\\\"b\\\"\\u{202e}\"\n"))
    #expect(text.filter { $0 == "\n" }.count == 1)
  }

  @Test func aNameCannotSpeakToSystemd() {
    #expect(
      NotifyMessage.status("replica x\nSTOPPING=1\u{2028}y").text == "STATUS=replica x STOPPING=1 y"
    )
    #expect(
      NotifyMessage.reloading(monotonicMicroseconds: 5).text == "RELOADING=1\nMONOTONIC_USEC=5")
    #expect(NotifyMessage.extendTimeout(.seconds(30)).text == "EXTEND_TIMEOUT_USEC=30000000")
    #expect(
      NotifyMessage.keepDescriptor(name: "kept-control").text
        == "FDSTORE=1\nFDNAME=kept-control\nFDPOLL=0")
  }
}
