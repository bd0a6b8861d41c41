// Wrong configurations, models, predicates and rows, given to the real programs.
import CairnControl
import Foundation
import TestSupport
import Testing

@Suite struct BadInputTests {
  /// Runs cairnd with a configuration until it ends by itself.
  private func refusal(_ text: String?) async throws -> (outcome: Outcome, path: String) {
    let program = try #require(Project.program("cairnd"), "build the products first")
    let folder = try TemporaryFolder()
    let path = folder.file("c.yaml")
    if let text {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
    let outcome = try await run(
      program, ["--config", path], environment: ["STATE_DIRECTORY": folder.file("state")])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == (text == nil ? [] : ["c.yaml"]), "nothing is made")
    return (outcome, path)
  }

  /// What Swift makes of such bytes is another text than the one that was typed.
  @Test func wordsThatAreNotUTF8AreRefused() async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let script = "exec \"$0\" insert Item \"$(printf 'name=M\\374ller')\""
    let outcome = try await run("/bin/sh", ["-c", script, program])
    #expect(outcome.code == 64)
    #expect(outcome.errors.contains("Word 3 of the command line is not UTF-8"), "\(outcome.errors)")
  }

  @Test func numbersBelowZeroAreCalledSo() async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    for (words, problem) in [
      ("fetch Item --limit -1", "--limit cannot be negative"),
      ("fetch Item --offset -1", "--offset cannot be negative"),
      ("history --limit -1", "--limit cannot be negative"),
      ("import - --batch -1", "--batch is a number from 1"),
      ("status --timeout -1", "--timeout is a number of seconds from 0"),
      ("top --interval -1", "--interval is a number of seconds from 0.1"),
      ("conflicts --limit -1", "--limit is at least 1"),
      ("self-test --minutes -1", "--minutes is a number from 0"),
    ] {
      let outcome = try await run(program, words.split(separator: " ").map(String.init))
      #expect(outcome.code == 64 && outcome.errors.contains(problem), "\(words): \(outcome)")
    }
    let empty = try await run(program, ["fetch", "Item", "--properties", ""])
    #expect(empty.code == 64 && empty.errors.contains("names at least one"), "\(empty)")
  }

  @Test func aMissingConfigurationEndsWith78() async throws {
    let (outcome, path) = try await refusal(nil)
    #expect(outcome.code == 78)
    #expect(outcome.errors.contains(path), "\(outcome.errors)")
    #expect(outcome.errors.contains("No such file"), "\(outcome.errors)")
  }

  @Test func malformedYAMLIsNamedByLine() async throws {
    let (outcome, path) = try await refusal("model: /m.mom\nlocal: {path: /x\nlog: [\n")
    #expect(outcome.code == 78)
    #expect(outcome.errors.contains("\(path):3"), "\(outcome.errors)")
  }

  @Test func anUnknownKeyIsNamedWithTheNearestKnownOne() async throws {
    let (outcome, path) = try await refusal("model: /m.mom\nsync:\n  retension: 30d\n")
    #expect(outcome.code == 78)
    #expect(outcome.errors.contains("\(path):3:3: sync.retension: unknown key"))
    #expect(outcome.errors.contains("retention"), "\(outcome.errors)")
  }

  @Test func aMissingModelMakesADegradedDaemonWithoutAStore() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder, Daemon.Setup(model: folder.file("none.xcdatamodeld")))
    try await daemon.start()
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.code == "model-invalid")
    #expect(problem.message.contains(folder.file("none.xcdatamodeld")), "\(problem)")
    #expect(!FileManager.default.fileExists(atPath: daemon.localPath))
    #expect(await daemon.stop() == 0)
  }

  @Test func everyProblemOfAMalformedModelIsListed() async throws {
    let folder = try TemporaryFolder()
    let model = try TestModel.write(
      "Wrong", in: folder,
      contents: """
        <entity name="Item" representedClassName="Item" parentEntity="Nobody">
          <attribute name="count" attributeType="Integer 63"/>
          <relationship name="box" maxCount="1" destinationEntity="Bax" inverseName="items"/>
        </entity>
        <entity name="Item" representedClassName="Item"/>
        """)
    let daemon = try Daemon(in: folder, Daemon.Setup(model: model))
    try await daemon.start()
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.code == "model-invalid")
    for part in ["Nobody", "Integer 63", "Bax", "Item"] {
      #expect(problem.message.contains(part), "\(part) is not in: \(problem.message)")
    }
    let shown = try await daemon.ctl("status")
    #expect(shown.code == 0 && shown.output.contains("Integer 63"), "\(shown.output)")
    #expect(!FileManager.default.fileExists(atPath: daemon.localPath))
    #expect(await daemon.stop() == 0)
  }

  @Test func wrongQuestionsAreRefusedWithWhatIsWrong() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    let cases: [(arguments: [String], name: String, words: String)] = [
      (["Package", "--where", "name == "], "InvalidPredicate", "name == \n"),
      (["Package", "--where", "nme == 'x'"], "InvalidPredicate", "nme"),
      (["Package", "--where", "FUNCTION(name, 'exit')"], "InvalidPredicate", "FUNCTION"),
      (["Packag"], "UnknownEntity", "Packag"),
      (["Package", "--properties", "nme"], "UnknownProperty", "nme"),
      (["Package", "--sort", "-nme"], "UnknownProperty", "nme"),
      (["Package", "--store", "nas"], "StoreNotFound", "nas"),
    ]
    for (arguments, name, words) in cases {
      let text = try await daemon.ctl(["fetch"] + arguments)
      #expect(text.code == 1 && text.output == "", "\(arguments)")
      #expect(text.errors.contains(words), "\(arguments): \(text.errors)")
      let json = try await daemon.ctl(["--json", "fetch"] + arguments)
      #expect(json.errors.contains(".\(name)\""), "\(arguments): \(json.errors)")
    }
    let position = try await daemon.ctl("--json", "fetch", "Package", "--where", "name == 'a' AN")
    #expect(position.errors.contains("\"position\":12"), "\(position.errors)")
    #expect(await daemon.stop() == 0)
  }

  @Test func wrongValuesSaveNothing() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    let cases: [(arguments: [String], words: String)] = [
      (["insert", "Package", "nme=x"], "no property called \"nme\""),
      (["insert", "Packag", "name=x"], "no entity called \"Packag\""),
      (["insert", "Package", "name=x", "installedSize=big"], "not a whole number"),
      (["insert", "Package", "version=1"], "name"),
      (["insert", "Package", "name=x", "section=nobody"], "nobody"),
      (["update", "Package", "nobody", "name=x"], "nobody"),
      (["delete", "Package", "nobody"], "nobody"),
    ]
    for (arguments, words) in cases {
      let outcome = try await daemon.ctl(arguments)
      #expect(
        outcome.code == 1 && outcome.errors.contains(words), "\(arguments): \(outcome.errors)")
    }
    #expect(try daemon.status().local?.records == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: [
    ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\"}\n{\"name\":\"d\",\n", 4),
    ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\"}\n{\"nme\":\"d\"}\n", 4),
    ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\"}\n{\"version\":\"1\"}\n", 4),
    ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\",\"installedSize\":1e19}\n", 3),
    (
      "jsonl", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{\"name\":\"c\",\"section\":{\"nme\":\"s\"}}\n",
      3
    ),
    ("csv", "name,installedSize\na,1\nb,2\nc,3\nd,many\n", 5),
    ("csv", "name,installedSize\na,1\nb,2\nc,3\nd,4,5\n", 5),
    ("csv", "name,installedSize\na,1\nb,2\nc,3\n,4\n", 5),
    ("csv", "name,installedSize\na,1\nb,2\nc,3\na,4\n", 5),
  ])
  func aBadLineIsNamedAndItsBatchIsNotSaved(_ format: String, _ input: String, _ line: Int)
    async throws
  {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    let outcome = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--format", format, "--batch", "2", input: input)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("standard input:\(line): "), "\(outcome.errors)")
    #expect(try await daemon.values("Package", "name") == ["a", "b"])
    #expect(await daemon.stop() == 0)
  }
}
