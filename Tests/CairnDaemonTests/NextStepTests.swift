// Each error of cairnctl says what to do next.
import CairnControl
import CairnPlatform
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

/// Specification: control.md 2.
@Suite struct NextStepTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func cairnctl(_ arguments: [String]) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, arguments, environment: ["CAIRN_SOCKET": "/no/such/socket"])
  }

  @Test func everyErrorOfAConnectionHasOne() {
    for error in [
      ControlClientError.unreachable(PlatformError("connect to", code: .notFound)),
      .unreachable(PlatformError("connect to", code: .accessDenied)),
      .unreachable(PlatformError("connect to", code: .ioFailure)), .disconnected("r"), .timedOut,
      .misunderstood("r"),
    ] {
      #expect(error.hint?.isEmpty == false, "\(error)")
    }
  }

  @Test func everyErrorAboutAFileHasOne() async throws {
    let text = folder.file("text")
    try Data("hello\n".utf8).write(to: URL(fileURLWithPath: text))
    let none = folder.file("none")
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    for arguments in [
      ["import", none, "--entity", "Item"], ["import", folder.path, "--entity", "Item"],
      ["inspect", none], ["inspect", text], ["inspect", folder.path],
      ["inspect", text, "--model", none], ["model", "check", none],
      ["model", "check", "/dev/null"],
      ["model", "show", text], ["model", "show", demo, "--model-version", "Nope"],
      ["model", "show", "--file", none], ["model", "diff", none, demo],
      ["model", "graph", none], ["model", "convert", none, folder.file("a.mom")],
      ["model", "convert", demo, "/proc/none/a.mom"], ["model", "port", none],
      ["model", "convert", demo, "/proc/none/a.xcdatamodeld"],
      ["migrate", none, "--to", demo], ["migrate", text, "--to", demo],
      ["fetch", "Item", "--file", none], ["fetch", "Item", "--file", text],
      ["fetch", "Item", "--file", text, "--model", none], ["export", "--file", folder.path],
      ["browse", none],
    ] {
      let outcome = try await cairnctl(arguments)
      #expect(outcome.code == 1, "\(arguments): \(outcome)")
      #expect(outcome.errors.contains("\nhint: "), "\(arguments): \(outcome.errors)")
    }
  }

  /// Whatever command a file is given to, it is called what it is in the same words.
  @Test(arguments: [false, true])
  func whatIsNoStoreIsCalledSoInOneWay(_ isText: Bool) async throws {
    let path = folder.file("junk")
    let bytes = isText ? Data("hello\n".utf8) : Data([0, 1, 2, 255])
    try bytes.write(to: URL(fileURLWithPath: path))
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    for arguments in [
      ["inspect", path], ["browse", path], ["fetch", "Item", "--file", path],
      ["export", "--file", path], ["migrate", path, "--to", demo],
    ] {
      let outcome = try await cairnctl(arguments)
      #expect(outcome.code == 1)
      let words = "\(path) is not an SQLite database" + (isText ? "" : ", or an encrypted one")
      #expect(outcome.errors.contains(words), "\(arguments): \(outcome.errors)")
    }
  }

  @Test(arguments: [
    ("fetc Item", "there is no command \"cairnctl fetc\"; did you mean \"fetch\"?", "cairnctl"),
    ("--json --socket /s stauts", "did you mean \\\"status\\\"?", "cairnctl"),
    ("model shwo", "no command \"cairnctl model shwo\"; did you mean \"show\"?", "cairnctl model"),
    ("conflicts restroe 1", "did you mean \"restore\"?", "cairnctl conflicts"),
    ("config", "", ""), ("fetch --nonsense", "", ""), ("conflicts --limit x", "", ""),
    ("zzzzzzzzzz", "there is no command \"cairnctl zzzzzzzzzz\"\n", "cairnctl"),
  ])
  func aMistypedCommandIsGuessed(_ line: String, _ words: String, _ path: String) async throws {
    let outcome = try await cairnctl(line.split(separator: " ").map(String.init))
    #expect(outcome.code == (line == "config" ? 0 : 64), "\(outcome)")
    if words.isEmpty {
      #expect(!outcome.errors.contains("there is no command"), "\(outcome.errors)")
    } else {
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains("`\(path) --help` lists"), "\(outcome.errors)")
    }
  }

  @Test func theModelThatIsShownIsOfAFileWhereAWordNamesOne() async throws {
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    let named = try await cairnctl(["model", "show", "--file", demo, "Section"])
    #expect(named.code == 0 && named.output.hasPrefix("Section"), "\(named.errors)")
    #expect(try await cairnctl(["model", "show", demo, "Section"]).output == named.output)
    let all = try await cairnctl(["model", "show", demo])
    #expect(all.code == 0 && all.output.contains("\nSection"), "\(all.errors)")
    let junk = folder.file("junk")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: junk))
    let refused = try await cairnctl(["model", "show", junk])
    #expect(refused.code == 1 && refused.errors.contains(junk), "\(refused.errors)")
    // Another word is an entity, for which the daemon is asked.
    #expect(try await cairnctl(["model", "show", "Section"]).code == 69)
    #expect(try await cairnctl(["model", "show", "--file", demo, "a", "b"]).code == 64)
  }
}
