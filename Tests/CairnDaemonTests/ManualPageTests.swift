// The manual pages that the programs print.
import CairnControl
import Foundation
import Testing

@testable import CairnDaemon

@Suite struct ManualPageTests {
  private static let pages: [(program: String, arguments: [String])] = [
    ("cairnctl", ["manual"]), ("cairnd", ["--manual"]), ("cairnd", ["--protocol-manual"]),
  ]

  private func page(_ index: Int) async throws -> String {
    let (name, arguments) = Self.pages[index]
    let program = try #require(Project.program(name), "build the products first")
    let outcome = try await run(program, arguments)
    #expect(outcome.code == 0, "\(outcome.errors)")
    return outcome.output
  }

  /// Every command with the words that lead to it, and its options, by the program's own word.
  private func described(_ index: Int) async throws -> [(path: String, options: [String])] {
    let program = try #require(Project.program(Self.pages[index].program))
    let dump = try await run(program, ["--experimental-dump-help"])
    let value = try JSONParser.parse(Array(dump.output.utf8))
    func visit(_ command: JSONValue, _ parent: String) -> [(String, [String])] {
      guard let name = command["commandName"]?.stringValue, name != "help" else { return [] }
      let path = parent.isEmpty ? name : "\(parent) \(name)"
      let options = (command["arguments"]?.arrayValue ?? []).filter {
        $0["shouldDisplay"]?.boolValue == true
      }.flatMap { $0["names"]?.arrayValue ?? [] }.compactMap { name in
        name["kind"]?.stringValue == "long" ? name["name"]?.stringValue : nil
      }
      return [(path, options)]
        + (command["subcommands"]?.arrayValue ?? []).flatMap { visit($0, path) }
    }
    return visit(try #require(value["command"]), "")
  }

  @Test(arguments: [0, 1])
  func aPageNamesEveryCommandAndOption(_ index: Int) async throws {
    let page = try await page(index).replacing("\\-", with: "-")
    let described = try await described(index)
    #expect(index == 1 || described.count > 30)
    for (path, options) in described {
      #expect(page.contains(path), "\(path)")
      for option in options { #expect(page.contains("--\(option)"), "\(path) --\(option)") }
    }
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff"), "needs groff"),
    arguments: pages.indices)
  func aPageIsSetWithoutAWarning(_ index: Int) async throws {
    let set = try await run(
      "/usr/bin/groff", ["-man", "-ww", "-Tutf8", "-k"], input: try await page(index),
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(set.code == 0 && set.errors == "", "\(set.errors.prefix(500))")
    // Letters in bold are struck twice.
    #expect(set.output.count > 500)
  }

  @Test func thePageOfTheProtocolHasEveryInterfaceAsIntrospectionGivesIt() async throws {
    let page = try await page(2).replacing("\\-", with: "-")
    let service = ServiceDescription(methods: GoldenReplay.methods)
    #expect(service.interfaces.count > 4)
    for interface in service.interfaces {
      #expect(page.contains(interface.text), "\(interface.name)")
    }
    for role in [ControlRole.status, .control, .owner] { #expect(page.contains("\(role)")) }
  }

  @Test func whatTroffWouldTakeForItsOwnIsText() throws {
    let help = """
      {"command": {"commandName": "tool", "abstract": ".so /etc/passwd", "shouldDisplay": true,
       "discussion": "'quoted \\\\fB -x \\"y\\"", "arguments": []}, "serializationVersion": 0}
      """
    let page = try ManualPage(section: 1, describedBy: help, rest: []).text
    #expect(page.contains("\n\\&.so /etc/passwd\n"))
    #expect(page.contains("\n\\&'quoted \\efB \\-x \"y\"\n"))
    #expect(throws: (any Error).self) {
      try ManualPage(section: 1, describedBy: "{}", rest: [])
    }
  }
}
