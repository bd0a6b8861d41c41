// House rules about tests: where they keep files, and how they see that an answer is the wrong one.

import Testing

@Suite struct TestShapeTests {
  /// The package's own; programs and packages of their own have no test-support target.
  static let tests = SourceTree.tests.filter {
    !$0.path.hasPrefix("Tests/consumers/") && !$0.path.hasPrefix("Tests/Fuzzing/")
  }

  /// Files that name a temporary folder by themselves, each with the reason.
  static let folderMakers = [
    "Tests/TestSupport/TemporaryFolder.swift": "makes the folder that all others use",
    "Tests/TestServers/PostgreSQLServer.swift":
      "a shell removes the folder, since the server ends with a process that was killed",
    "Tests/CairnAtomicStoresTests/CrashTests.swift":
      "parent and child meet at a fixed name, since the child cannot be handed a value",
    "Tests/CairnMigrationTests/Opening/MigratedWhileOpenTests.swift":
      "parent and child meet at a name with the parent's number",
    "Tests/CairnSyncTests/Simulation/World/SimulationShrinking.swift":
      "a simulation syncs every commit, so its files are in memory where they can be",
    "Tests/RepositoryShapeTests/TestShapeTests.swift": "holds the words of this rule",
  ]

  @Test func testsTakeTheirFoldersFromTheTestSupport() {
    let words = [
      "temporaryDirectory", "NSTemporaryDirectory", "mkdtemp", "itemReplacementDirectory",
    ]
    for file in Self.tests where Self.folderMakers[file.path] == nil {
      for (number, text) in file.code where words.contains(where: text.contains) {
        Issue.record("\(file.path):\(number) makes a folder by itself; use TemporaryFolder")
      }
    }
    for path in Self.folderMakers.keys {
      #expect(Self.tests.contains { $0.path == path }, "\(path) is an exception but does not exist")
    }
  }

  /// Foundation's own reads past the end of its buffer where as many stores are open as tests open side by side.
  @Test func testsStartProgramsAsChildProcesses() {
    let words = [" Process()", "(Process()"]
    // This file has the words that it forbids.
    for file in Self.tests where file.name != "TestShapeTests.swift" {
      for (number, text) in file.code where words.contains(where: text.contains) {
        Issue.record("\(file.path):\(number) starts a program by itself; use ChildProcess")
      }
    }
  }

  /// A test that returns when an answer has another form than the one wanted has tested nothing.
  @Test func noGuardOverACaseLetsATestPassUnchecked() {
    // This file has examples of what it forbids.
    for file in Self.tests where file.name != "TestShapeTests.swift" {
      for (number, text) in file.code where text.contains("guard case ") {
        #expect(
          !Self.returnsSilently(file.lines[(number - 1)...]),
          "\(file.path):\(number) returns without a word; use `try #require(...)`")
      }
    }
  }

  /// Whether the guard that begins here has nothing but a return without a value.
  private static func returnsSilently(_ lines: ArraySlice<String>) -> Bool {
    guard let last = lines.prefix(8).firstIndex(where: { $0.contains("else {") }) else {
      return false
    }
    let body = lines[last...].prefix(2).joined(separator: " ")
    return body.firstMatch(of: /else \{\s*return\s*(\}|$)/) != nil
  }

  @Test func theRuleAboutGuardsSeesAllForms() {
    #expect(Self.returnsSilently(["guard case .a(let b) = c else { return }"]))
    #expect(Self.returnsSilently(["guard case .a(let b) = c", "else {", "  return", "}"]))
    #expect(Self.returnsSilently(["guard case .a = b,", "  c", "else { return }"]))
    #expect(!Self.returnsSilently(["guard case .a(let b) = c else { return nil }"]))
    #expect(
      !Self.returnsSilently(["guard case .a = b else {", "  Issue.record(\"\")", "  return"]))
  }
}
