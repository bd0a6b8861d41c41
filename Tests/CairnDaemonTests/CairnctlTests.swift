// The real cairnctl against a control server in this process.
import CairnControl
import Foundation
import Synchronization
import Testing

@testable import CairnDaemon

@Suite struct CairnctlTests {
  private func cairnctl(
    _ arguments: [String], input: String = "", handlers: [ControlHandler]
  ) async throws -> Outcome {
    let server = try await RunningServer(handlers: handlers)
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(
      program, arguments, input: input, environment: ["CAIRN_SOCKET": server.socket])
  }

  @Test(arguments: GoldenFile.all)
  func theOutputIsAsInTheGoldenFile(_ file: GoldenFile) async throws {
    let replay = GoldenReplay(file)
    let outcome = try await cairnctl(
      file.arguments, input: file.input, handlers: replay.handlers)
    // Files of the project are shown with their whole path, which is another one elsewhere.
    let shown =
      "exit \(outcome.code)\n--- output\n\(outcome.output)--- errors\n\(outcome.errors)"
      .replacingOccurrences(of: Project.file("") + "/", with: "")
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil { try file.record(shown) }
    #expect(shown == file.shown, "RECORD_GOLDEN=1 writes it anew")
    #expect(replay.unasked.isEmpty)
  }

  @Test func thereAreGoldenFilesAndNoneIsEmpty() {
    #expect(GoldenFile.all.count > 25)
    #expect(GoldenFile.all.allSatisfy { !$0.arguments.isEmpty })
  }

  /// Takes what is imported; a row called "bad" is refused.
  private final class ImportRecorder: Sendable {
    let batches = Mutex<[ImportRecords.Parameters]>([])

    var handlers: [ControlHandler] {
      [
        ControlHandler(ImportRecords.self) { [self] parameters, _ in
          for (row, line) in zip(parameters.rows, parameters.lines) where row["name"] == "bad" {
            throw ControlError.importFailed(line: line, reason: "name: not allowed")
          }
          batches.withLock { $0.append(parameters) }
          return .init(inserted: parameters.rows.count, updated: 0, unchanged: 0, created: 0)
        },
        ControlHandler(GetModel.self) { _, _ in
          .init(
            model: ModelSummary(
              name: "Shop",
              entities: [
                EntitySummary(
                  name: "Item",
                  attributes: [
                    AttributeSummary(name: "name", type: "String", isOptional: false),
                    AttributeSummary(name: "count", type: "Integer 64", isOptional: true),
                    AttributeSummary(name: "price", type: "Double", isOptional: true),
                  ])
              ]))
        },
      ]
    }
  }

  @Test func jsonLinesAreImportedInBatchesWithTheirLines() async throws {
    let input = "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\n{\"name\":\"c\"}"
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "2", "--key", "name"], input: input,
      handlers: recorder.handlers)
    #expect(outcome.code == 0)
    #expect(outcome.output == "3 rows: 3 inserted, 0 updated, 0 unchanged, 0 related created\n")
    let batches = recorder.batches.withLock { $0 }
    #expect(batches.map(\.lines) == [[1, 3], [4]])
    #expect(batches.first?.key == ["name"])
  }

  @Test(arguments: [
    "{}", #" { "name" : "\u00e9\u0000\ud83d\ude00" , "price": 1E2 } "#, #"{"name": "é😀"}"#,
  ])
  func aLineOfJSONMeansTheSameToTheDaemon(_ line: String) async throws {
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--author", "\"é"], input: line + "\r\n",
      handlers: recorder.handlers)
    #expect(outcome.errors == "")
    let batch = try #require(recorder.batches.withLock { $0.first })
    #expect(try batch.rows == [JSONParser.parse(line).objectValue])
    #expect(batch.author == "\"é")
    #expect(batch.createMissing == true)
  }

  @Test func transactionsThatSizeEndsAreAnnounced() async throws {
    let text = String(repeating: "x", count: 200_000)
    let input = String(repeating: "{\"name\":\"\(text)\"}\n", count: 5)
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "4"], input: input,
      handlers: recorder.handlers)
    #expect(outcome.errors.contains("fewer rows than --batch 4 says"), "\(outcome.errors)")
    #expect(recorder.batches.withLock { $0.map(\.lines) } == [[1, 2], [3, 4], [5]])
    let silent = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "2"], input: input,
      handlers: recorder.handlers)
    #expect(silent.errors == "")
  }

  @Test func aRowMayFillAMessageAloneAndALongerOneComesInParts() async throws {
    // Characters of four bytes, so that some stand where parts end.
    func row(_ count: Int) -> String {
      "{\"name\":\"a\(String(repeating: "\u{1F600}", count: count / 4))\"}\n"
    }
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--key", "name"],
      input: row(4) + row(950_000) + row(4) + row(1_500_000) + row(4) + row(17 << 20),
      handlers: recorder.handlers)
    #expect(outcome.errors.contains("standard input:6: the line is longer than 16 MiB"))
    let calls = recorder.batches.withLock { $0 }
    let parts = calls.compactMap(\.part)
    #expect(parts.count == 6 && parts.allSatisfy { $0.utf8.count <= 256 << 10 })
    #expect(parts.joined() + "\n" == row(1_500_000))
    #expect(calls.map(\.lines) == [[1], [2], [3]] + parts.map { _ in [] } + [[4]])
    #expect(calls.filter { $0.lines == [4] }.map(\.key) == [["name"]])
  }

  /// A failed batch of an import, with the exit code.
  @Test(arguments: [
    (ControlError.storeUnavailable(name: "local", code: "disk-full", reason: "full"), 1, "full"),
    (ControlError.notReady(state: "starting", reason: "not open yet"), 75, "not open yet"),
  ])
  func aBatchThatFailsSaysWhatIsInAndFromWhichLineToGoOn(
    _ error: ControlError, _ code: Int32, _ words: String
  ) async throws {
    let handler = ControlHandler(ImportRecords.self) { parameters, _ in
      if parameters.lines.contains(5) { throw error }
      return .init(inserted: parameters.rows.count, updated: 0, unchanged: 0, created: 0)
    }
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "2"],
      input: String(repeating: "{\"name\":\"a\"}\n", count: 9), handlers: [handler])
    #expect(outcome.code == code, "\(outcome.errors)")
    #expect(outcome.errors.contains("standard input:5: the batch"), "\(outcome.errors)")
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.errors.contains("4 rows of earlier batches are in"), "\(outcome.errors)")
    #expect(outcome.errors.contains("import the rest from line 5 on"), "\(outcome.errors)")
  }

  /// The daemon may be stopped by a signal, or wait for a disk.
  @Test func aWaitEndsSoonAfterItsTimeWhenTheDaemonDoesNotAnswer() async throws {
    let start = ContinuousClock.now
    let outcome = try await cairnctl(["wait", "--timeout", "0.1"], handlers: FakeHandlers().all)
    #expect(outcome.code == 75)
    #expect(outcome.errors.contains("did not answer in time"), "\(outcome.errors)")
    #expect(ContinuousClock.now - start < .seconds(25))
  }

  @Test func anOlderDaemonIsNamedForARowThatItCannotTake() async throws {
    let handler = ControlHandler(ImportRecords.self) { parameters, _ in
      if parameters.part != nil { throw ControlError.invalidParameter("part") }
      return .init(inserted: parameters.rows.count, updated: 0, unchanged: 0, created: 0)
    }
    let text = String(repeating: "x", count: 1_000_000)
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item"], input: "{}\n{\"name\":\"\(text)\"}\n",
      handlers: [handler])
    #expect(outcome.code == 1)
    #expect(
      outcome.errors.contains("standard input:2: the row has 976 KiB as JSON, and this daemon"))
    #expect(outcome.errors.contains("1 row of earlier batches"), "\(outcome.errors)")
  }

  @Test func csvValuesGetTheTypesOfTheModel() async throws {
    let input = "name,count,price\r\n\"nut, \"\"big\"\"\n\",12,1.5\r\nbolt,,\r\n"
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--format", "csv"], input: input,
      handlers: recorder.handlers)
    #expect(outcome.errors == "")
    let batch = try #require(recorder.batches.withLock { $0.first })
    #expect(batch.lines == [2, 4])
    #expect(
      batch.rows == [
        ["name": "nut, \"big\"\n", "count": 12, "price": 1.5],
        ["name": "bolt", "count": nil, "price": nil],
      ])
  }

  @Test(arguments: [
    ("\u{FEFF}\"name\",\"count\"\na,1\n", "", [2]),
    ("\u{FEFF}name,count\na,1\n", "", [2]), ("name\r\"a\r\nb\"\r", "", [2]),
    ("\u{FEFF}a\"name\"\n", "standard input:1: a quote inside a field", []),
    (
      "name,nope\na,1\n", "standard input:1: the entity \"Item\" has no property called \"nope\"",
      []
    ),
    ("name;count\na;1\n", "columns are separated by commas", []),
    ("name,\na,1\n", "standard input:1: column 2 has no name", []),
    ("name,count,name\n", "standard input:1: the column \"name\" comes twice", []),
  ])
  func csvIsTakenAsSpreadsheetsWriteItAndAWrongHeaderIsNamed(
    _ input: String, _ words: String, _ lines: [Int]
  ) async throws {
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--format", "csv"], input: input,
      handlers: recorder.handlers)
    #expect(outcome.errors.contains(words) || words.isEmpty && outcome.errors.isEmpty, "\(outcome)")
    #expect(outcome.code == (words.isEmpty ? 0 : 1))
    let batches = recorder.batches.withLock { $0 }
    #expect(batches.flatMap(\.lines) == lines)
    #expect(batches.flatMap(\.rows).allSatisfy { $0["name"]?.stringValue?.hasPrefix("a") == true })
  }

  @Test(arguments: [
    ["--socket", "", "status"], ["import", "-", "--entity", "Item", "--key", ""],
    ["import", "-", "--entity", "Item", "--key", "name,"],
    ["fetch", "Item", "--sort", "name", "--after", "3"], ["fetch", "Item", "--after", "-1"],
    ["insert", "Item", "novalue"], ["insert", "Item", "name=a", "name=b"],
    ["update", "Item", "r1", "novalue"], ["update", "Item", "r1", "name=a", "name="],
  ])
  func whatCannotBeMeantIsAWrongCommandLine(_ arguments: [String]) async throws {
    let outcome = try await cairnctl(arguments, handlers: FakeHandlers().all)
    #expect(outcome.code == 64 && outcome.output == "", "\(outcome)")
  }

  /// A pipe that is closed is no trouble; a file that lacks its end is.
  @Test(arguments: [
    ("fetch Item --format jsonl > /dev/full", 1, "the output is not complete: No space left"),
    ("status > /dev/full", 1, "hint: free some space"),
    ("model graph shop > /dev/full", 1, "the output is not complete"),
    ("--help > /dev/full", 1, "the output is not complete"),
    ("wait --help > /dev/full", 1, "the output is not complete"),
    ("--version > /dev/full", 1, "the output is not complete"), ("--help > /dev/null", 0, ""),
    ("status >&-", 1, "the output is not complete: Bad file descriptor"),
    ("stores 2>&- >/dev/full", 1, ""), ("status < /dev/null", 0, ""), ("status <&-", 0, ""),
    ("status | head -1 > /dev/null; exit ${PIPESTATUS[0]}", 0, ""),
    (
      "fetch Item --where endless --format jsonl | head -1 > /dev/null; exit ${PIPESTATUS[0]}", 0,
      ""
    ),
  ])
  func outputThatIsLostIsSaid(_ command: String, _ code: Int32, _ words: String) async throws {
    let server = try await RunningServer(handlers: FakeHandlers().all)
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let model = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    let outcome = try await run(
      "/bin/bash", ["-c", "'\(program)' \(command.replacingOccurrences(of: "shop", with: model))"],
      environment: ["CAIRN_SOCKET": server.socket])
    let isSaid = words.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(words)
    #expect(outcome.code == code && isSaid, "\(outcome)")
  }

  @Test(arguments: [
    ("{\"name\":\"a\"}\n{\"name\":\n", "standard input:2: not JSON"),
    ("{\"name\":\"a\"}\n{\"name\":\"bad\"}\n", "standard input:2: name: not allowed"),
    ("[1]\n", "standard input:1: an array stands where an object is wanted"),
  ])
  func aBadRowIsNamedByItsLine(_ input: String, _ message: String) async throws {
    let recorder = ImportRecorder()
    let outcome = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "1"], input: input,
      handlers: recorder.handlers)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    let before = input.hasPrefix("[") ? 0 : 1
    #expect(recorder.batches.withLock { $0.count } == before)
  }

  @Test func withoutADaemonTheCodeIs69AndTheHintSaysWhatToDo() async throws {
    let program = try #require(Project.program("cairnctl"))
    let outcome = try await run(program, ["--socket", "/no/such/socket", "status"])
    #expect(outcome.code == 69)
    #expect(outcome.errors.contains("hint: is cairnd running?"))
    #expect(try await run(program, ["nonsense"]).code == 64)
  }

  @Test(arguments: [2, Int.max])
  func aWaitGoesOnWhileTheDaemonStarts(_ refusals: Int) async throws {
    final class Calls: Sendable {
      let count = Mutex(0)
    }
    let calls = Calls()
    let handler = ControlHandler(WaitForSync.self) { _, _ in
      let number = calls.count.withLock { count -> Int in
        count += 1
        return count
      }
      if number <= refusals {
        throw ControlError.notReady(state: "starting", reason: "the local store is not open yet")
      }
      return .init(reached: ["near"], waited: 0)
    }
    let outcome = try await cairnctl(
      ["wait", "--timeout", refusals == 2 ? "60" : "0.5"], handlers: [handler])
    // Not yet is no refusal.
    #expect(outcome.code == (refusals == 2 ? 0 : 75), "\(outcome.errors)")
    // On a busy machine the time of the other may be over with the first call.
    #expect(calls.count.withLock { $0 } >= (refusals == 2 ? 3 : 1))
  }
}
