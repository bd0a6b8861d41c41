// What the page AddingAKindOfReplica says is what the sources say.

import Foundation
import Testing

/// The page AddingAKindOfReplica.
@Suite struct ReplicaKindPageTests {
  private static let path = "Sources/Cairn/Cairn.docc/Extending/AddingAKindOfReplica.md"
  private let page: String
  private let sources = SourceTree.sources

  init() throws { page = try #require(SourceTree.text(of: Self.path)) }

  /// What stands in the page as code.
  private var words: Set<String> {
    Set(page.matches(of: /`([^`\n]+)`/).map { String($0.output.1) })
  }

  @Test(
    arguments: ["Sources", "Tests", "Config"])
  func everyFileThatItNamesIsThere(_ folder: String) {
    let paths = words.filter { $0.hasPrefix("\(folder)/") }
    #expect(!paths.isEmpty)
    for path in paths {
      let url = SourceTree.root.appendingPathComponent(path)
      #expect(FileManager.default.fileExists(atPath: url.path), "\(path)")
    }
  }

  @Test func everyTypeThatItNamesIsThere() {
    let kinds = ["protocol ", "struct ", "class ", "enum "]
    let declared = Set(
      (sources + SourceTree.tests).flatMap { file in
        // A look at the last byte and the words first: expressions are slow in debug builds.
        file.code.filter { line in
          line.text.utf8.last == UInt8(ascii: "{") && kinds.contains { line.text.contains($0) }
        }.flatMap { line in
          line.text.matches(of: /\b(?:protocol|struct|class|enum) (\w+)/).map {
            String($0.output.1)
          }
        }
      })
    let types = words.filter { $0.wholeMatch(of: /[A-Z]\w+/) != nil && $0 != "Hub" && $0 != "Kind" }
    #expect(types.count > 20)
    for type in types.sorted() { #expect(declared.contains(type), "\(type)") }
  }

  /// The requirements of a protocol, or the entries of a structure, by their base names.
  private func requirements(of name: String) throws -> Set<String> {
    func begins(_ text: String) -> Bool {
      // Such a line stands alone, and ends with its brace.
      guard text.utf8.last == UInt8(ascii: "{"), !text.hasPrefix(" ") else { return false }
      return text.contains("protocol \(name)") || text.contains("struct \(name):")
    }
    let file = try #require(sources.first { file in file.code.contains { begins($0.text) } })
    let start = try #require(file.code.firstIndex { begins($0.text) })
    var found: Set<String> = []
    for line in file.code[(start + 1)...] {
      if line.text == "}" { break }
      if let match = line.text.firstMatch(of: /^  (?:public |package )?(?:func|var) (\w+)/) {
        found.insert(String(match.output.1))
      }
    }
    return found
  }

  @Test(arguments: [
    "ReplicaPass", "ChangeSource", "ChangeDestination", "ChangeSetSide", "ChangeLog", "PeerChannel",
  ])
  func everyRequirementOfTheContractIsExplained(_ name: String) throws {
    let required = try requirements(of: name)
    #expect(!required.isEmpty)
    // What says in what pass it is, or where, needs no explanation.
    for word in required.subtracting(["direction", "beginStep", "place"]).sorted() {
      #expect(words.contains(word), "\(word) of \(name)")
    }
  }

  @Test func nothingIsExplainedThatTheContractDoesNotHave() throws {
    let rows = page.matches(of: /(?m)^\| ((?:`\w+`(?:, )?)+)/).flatMap { row in
      row.output.1.matches(of: /`(\w+)`/).map { String($0.output.1) }
    }.filter { $0.first?.isLowercase == true }
    var required: Set<String> = ["fileChecking", "inPlaceMigration"]
    for name in [
      "ReplicaPass", "ChangeSource", "ChangeDestination", "ChangeLog", "StoreCapabilities",
    ] {
      required.formUnion(try requirements(of: name))
    }
    #expect(rows.count > 8)
    for row in rows { #expect(required.contains(row), "\(row)") }
  }

  @Test func everyCapabilityThatSyncAsksForIsThere() {
    let asked = Set(
      sources.filter { $0.path.hasPrefix("Sources/CairnSync/") }.flatMap { file in
        // A look at the words first, as above.
        file.code.filter { line in
          ["capabilities.", ".fileChecking", ".inPlaceMigration"].contains(
            where: line.text.contains)
        }.flatMap { line in
          line.text.matches(of: /capabilities\.(\w+)|\.(fileChecking|inPlaceMigration)\b/).map {
            String($0.output.1 ?? $0.output.2 ?? "")
          }
        }
      })
    #expect(asked.count > 10)
    for capability in asked.sorted() { #expect(words.contains(capability), "\(capability)") }
  }

  @Test func itCountsTheKinds() {
    let kinds = page.matches(of: /(?m)^## A (\w+)$/).map { String($0.output.1) }
    #expect(kinds == ["store", "log", "daemon"])
    #expect(page.contains("in three kinds"))
  }
}
