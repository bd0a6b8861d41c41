// The shells' completions, with a real shell and the names of a real daemon.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct CompletionTests {
  private func daemon() async throws -> Daemon {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder),
        replicas: [("near", folder.file("near.sqlite")), ("north", folder.file("north.sqlite"))]))
    try await daemon.start()
    return daemon
  }

  /// What bash offers for the last of the words.
  private func offers(_ words: [String], socket: String) async throws -> [String] {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let line = words.joined(separator: " ")
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      cairnctl() { '\(program)' "$@"; }
      source <(cairnctl completions bash)
      COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1)
      COMP_LINE='\(line)'; COMP_POINT=\(line.utf8.count)
      compopt() { :; }
      _cairnctl cairnctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let folder = (program as NSString).deletingLastPathComponent
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let outcome = try await run(
      "/bin/bash", ["--norc", "-c", script],
      environment: ["CAIRN_SOCKET": socket, "PATH": "\(folder):\(path)"])
    #expect(outcome.errors == "", "\(words)")
    return outcome.output.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test func bashOffersWhatTheDaemonKnowsByName() async throws {
    let daemon = try await daemon()
    func offers(_ words: String...) async throws -> [String] {
      try await self.offers(["cairnctl"] + words, socket: daemon.socket).sorted()
    }
    #expect(try await offers("sync", "") == ["near", "north"])
    #expect(try await offers("sync", "no") == ["north"])
    #expect(try await offers("purge", "") == ["local", "near", "north"])
    #expect(try await offers("verify", "") == ["local", "near", "north"])
    #expect(try await offers("repair", "l") == ["local"])
    #expect(try await offers("model", "show", "It") == ["Item"])
    #expect(try await offers("reload", "--w") == ["--wait"])
    #expect(try await offers("wait", "--for", "") == ["all", "near", "north"])
    #expect(try await offers("fetch", "I") == ["Item"])
    #expect(try await offers("insert", "Item", "c") == ["count="])
    #expect(try await offers("explain", "Item", "x", "") == ["count", "name"])
    #expect(try await offers("qu") == ["quarantine"])
    // Another daemon is asked where the line names one.
    #expect(
      try await self.offers(
        ["cairnctl", "--socket", daemon.socket, "sync", "nea"], socket: "/no/such/socket")
        == ["near"])
    #expect(await daemon.stop() == 0)
  }

  @Test func withoutADaemonNothingIsOfferedAndNothingIsSaid() async throws {
    #expect(try await offers(["cairnctl", "sync", ""], socket: "/no/such/socket").isEmpty)
    #expect(try await offers(["cairnctl", "qu"], socket: "/no/such/socket") == ["quarantine"])
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func eachShellHasAScript(_ shell: String) async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let script = try await run(program, ["completions", shell])
    #expect(script.code == 0 && script.output.contains("quarantine"))
  }

  @Test func bashAcceptsItsScript() async throws { try await check("bash", "/bin/bash") }

  @Test(.enabled(if: ForeignTools.zsh != nil, "needs zsh: make test-tools"))
  func zshAcceptsItsScript() async throws {
    try await check("zsh", try #require(ForeignTools.zsh))
  }

  @Test(.enabled(if: ForeignTools.fish != nil, "needs fish: make test-tools"))
  func fishAcceptsItsScript() async throws {
    try await check("fish", try #require(ForeignTools.fish))
  }

  /// Lets a shell read its script without running it.
  private func check(_ shell: String, _ path: String) async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let script = try await run(program, ["completions", shell])
    let folder = try TemporaryFolder()
    try Data(script.output.utf8).write(to: URL(fileURLWithPath: folder.file("script")))
    // Of what `make test-tools` unpacked.
    let libraries = ["LD_LIBRARY_PATH": Project.file(".build/tools/usr/lib")]
    let checked = try await run(path, ["-n", folder.file("script")], environment: libraries)
    #expect(checked.code == 0 && checked.errors == "", "\(checked.errors)")
    try Data("if [ (".utf8).write(to: URL(fileURLWithPath: folder.file("script")))
    let wrong = try await run(path, ["-n", folder.file("script")], environment: libraries)
    #expect(wrong.code != 0 && !wrong.errors.contains("shared libraries"), "it does not look")
  }
}
