// SECURITY.md promises nothing that no test shows.

import Foundation
import Testing

/// The table of SECURITY.md.
@Suite struct SecurityTableTests {
  /// One line of the table.
  struct Promise: CustomTestStringConvertible {
    let threat: String
    let tests: [String]

    var testDescription: String { threat }
  }

  static let promises: [Promise] = {
    guard
      let text = try? String(
        contentsOf: SourceTree.root.appending(path: "SECURITY.md"), encoding: .utf8),
      let table = text.components(separatedBy: "| threat | defence | shown by |").last
    else { return [] }
    return table.split(separator: "\n").dropFirst().filter { $0.hasPrefix("| ") }.map { line in
      let cells = line.components(separatedBy: " | ")
      let tests = (cells.last ?? "").matches(of: /`([^`]+)`/).map { String($0.output.1) }
      return Promise(threat: String(cells[0].dropFirst(2)), tests: tests)
    }
  }()

  static let suites = SourceTree.tests

  /// The rows that were set as a task (operations.md 4), with the threats of the table that they are here;
  /// those of PostgreSQL and of peers come with them.
  static let rows: [(row: String, threats: [String])] = [
    ("local user opens the socket", ["a local user opens the socket"]),
    ("role confusion", ["confusion of roles", "users that the daemon cannot see"]),
    ("role of a dead pid", ["the role of a process that is gone"]),
    ("message too big", ["a message too large, too deep, or none"]),
    ("deep or odd JSON", ["a message too large, too deep, or none"]),
    ("too many connections", ["too many connections"]),
    ("slow client, slow reader", ["clients that send or read slowly"]),
    ("request floods", ["floods of calls"]), ("costly predicates", ["costly predicates"]),
    ("SQL injection by values", ["SQL in values and predicates"]),
    ("SQL injection by identifiers", ["SQL in names of a model or a file"]),
    ("format strings in predicates", ["predicates that call code"]),
    (
      "hostile SQLite file in add-store",
      ["a hostile store", "a file that is no store is added as a replica"]
    ),
    (
      "path traversal in add-store, export, backup",
      [
        "paths that lead astray", "a replica outside of the folders", "a backup that leaks",
        "a path to `restore`", "a file that `cairnctl` should read or write",
      ]
    ), ("archives", ["a hostile archive or property list"]),
    ("log injection", ["text that speaks to the journal"]),
    ("data in logs", ["values of rows in logs", "a support bundle that tells values"]),
    (
      "environment and files",
      ["configuration that others can write", "a model, or a folder of the local store"]
    ), ("disk filling", ["a full disk"]), ("process compromise", ["the daemon is taken over"]),
    ("supply of the binary", ["programs made of other sources"]),
  ]

  @Test(arguments: rows.map(\.row)) func eachRowOfTheTaskIsInTheTable(_ row: String) throws {
    let threats = try #require(Self.rows.first { $0.row == row }).threats
    for threat in threats {
      #expect(Self.promises.contains { $0.threat.hasPrefix(threat) }, "no promise about \(threat)")
    }
  }

  @Test func theTableIsFound() {
    #expect(Self.promises.count >= 15)
  }

  @Test func anInventedCheckIsNoticed() {
    let script = #"serves() { ok "$1"; }; check "it works" true; equals "no $thing at all" "" """#
    let names = Self.names(of: script)
    #expect(names.count == 2)
    #expect(names.contains { $0.wholeMatch("it works") })
    #expect(names.contains { $0.wholeMatch("no door at all") })
    #expect(!names.contains { $0.wholeMatch("it works not") || $0.wholeMatch("no door") })
  }

  @Test(arguments: promises)
  func everyPromiseNamesTestsThatExist(_ promise: Promise) throws {
    #expect(!promise.tests.isEmpty)
    for test in promise.tests {
      if let match = test.wholeMatch(of: /([\w-]+\.sh): (.+)/) {
        let file = SourceTree.root.appending(path: "Tests/sysbox/\(match.output.1)")
        let script = try String(contentsOf: file, encoding: .utf8)
        let isThere = Self.names(of: script).contains { $0.wholeMatch(String(match.output.2)) }
        #expect(isThere, "no check of \(match.output.1) is called \"\(match.output.2)\"")
      } else {
        let parts = test.split(separator: ".")
        try #require(parts.count == 2, "\(test) is no Suite.test and no script.sh: check")
        let isThere = Self.suites.contains { file in
          // A file has the name of its suite.
          file.name == "\(parts[0]).swift"
            && file.lines.contains { $0.contains("struct \(parts[0])") }
            && file.lines.contains { $0.contains("func \(parts[1])(") }
        }
        #expect(isThere, "there is no test \(test)")
      }
    }
  }

  /// The name of a check; what the script fills in is `$…` in it.
  struct CheckName {
    let parts: [String]

    /// Whether a check of this name may have printed a text.
    func wholeMatch(_ text: String) -> Bool {
      guard parts.count > 1 else { return text == parts[0] }
      guard text.hasPrefix(parts[0]) else { return false }
      var rest = text.dropFirst(parts[0].count)
      for part in parts.dropFirst() where !part.isEmpty {
        guard let range = rest.range(of: part) else { return false }
        rest = rest[range.upperBound...]
      }
      return parts.last == "" || rest.isEmpty
    }
  }

  private static func names(of script: String) -> [CheckName] {
    script.matches(of: /(?:check|equals|contains|ok|serves|begins|comes) "((?:[^"\\]|\\.)+)"/).map {
      let filled = $0.output.1.replacing(/\$\{[^}]*\}+|\$\w+/, with: "\u{0}")
      return CheckName(parts: filled.components(separatedBy: "\u{0}"))
    }.filter { name in name.parts.contains { !$0.isEmpty } }
  }
}
