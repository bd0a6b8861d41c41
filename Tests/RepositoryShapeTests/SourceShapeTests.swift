// House rules about single source files.

import Foundation
import Testing

@Suite struct SourceShapeTests {
  static let sources = SourceTree.sources
  static let tests = SourceTree.tests

  /// Files that may be longer, each with the reason.
  static let longFiles: [String: String] = [:]

  @Test func theTreeIsFound() {
    #expect(Self.sources.count > 50, "the tests look at the wrong folder")
    #expect(!Self.tests.isEmpty)
  }

  @Test func sourceFilesStayUnderFourHundredLines() {
    for file in Self.sources where Self.longFiles[file.path] == nil {
      #expect(file.lines.count <= 401, "\(file.path) has \(file.lines.count) lines: split the type")
    }
  }

  @Test func testFilesStayUnderSixHundredLines() {
    for file in Self.tests where Self.longFiles[file.path] == nil {
      #expect(file.lines.count <= 601, "\(file.path) has \(file.lines.count) lines")
    }
  }

  @Test func longFileListHasNoStaleEntries() {
    let paths = Set((Self.sources + Self.tests).map(\.path))
    for path in Self.longFiles.keys {
      #expect(paths.contains(path), "\(path) is listed as long but does not exist")
    }
  }

  @Test func everyFileSaysWhatItIsFor() {
    for file in Self.sources + Self.tests {
      #expect(
        file.lines.contains { $0.trimmingCharacters(in: .whitespaces).hasPrefix("//") },
        "\(file.path) has no comment that says what it is for")
    }
  }

  @Test func uncheckedPromisesCarryTheirProof() {
    let risky = ["@unchecked Sendable", "nonisolated(unsafe)", "try!"]
    for file in Self.sources {
      for (number, text) in file.code where risky.contains(where: text.contains) {
        #expect(
          file.isExplained(line: number),
          "\(file.path):\(number) needs a comment before it that proves it safe")
      }
    }
  }

  @Test func librariesDoNotPrint() {
    let programs: Set<String> = ["cairnctl", "cairnd", "cairn-modelgen"]
    for file in Self.sources where !programs.contains(file.target) {
      for (number, text) in file.code {
        let called = text.range(
          of: #"(^|[^A-Za-z0-9_.])(print|debugPrint|NSLog)\("#, options: .regularExpression)
        #expect(called == nil, "\(file.path):\(number) prints; libraries throw, the daemon logs")
      }
    }
  }

  /// `CairnXML` reads all XML; FoundationXML would link libxml2 into the programs.
  @Test func xmlHasOneReader() {
    for file in Self.sources {
      for (number, text) in file.code where text.contains("FoundationXML") {
        Issue.record("\(file.path):\(number) uses FoundationXML: read with CairnXML")
      }
    }
  }

  @Test func namesSayWhatAFileIsFor() {
    let empty = ["Utils", "Utilities", "Helper", "Helpers", "Common", "Misc", "Base"]
    for path in SourceTree.files(under: "Sources") + SourceTree.files(under: "Tests") {
      for part in path.split(separator: "/") {
        let stem = part.split(separator: ".").first.map(String.init) ?? ""
        #expect(
          !empty.contains(where: { stem == $0 || stem.hasSuffix($0) }),
          "\(path): \(part) says nothing")
      }
    }
  }

  /// A reader who searches for a type finds one.
  @Test func noTwoTypesOfThePackageHaveOneName() {
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol"]
    var places: [Substring: Set<String>] = [:]
    for file in Self.sources {
      for (_, text) in file.code where text.first != " " {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count,
          !words[..<kind].contains("extension"), words[kind + 1] != "func"
        else { continue }
        places[words[kind + 1], default: []].insert(file.path)
      }
    }
    #expect(places.count > 1000, "the rule looks at the wrong folder")
    for (name, files) in places where files.count > 1 {
      Issue.record("\(name) is declared in \(files.sorted().joined(separator: " and in "))")
    }
  }

  @Test func syncTakesTimeAndChanceOnlyFromItsEnvironment() {
    let forbidden = [
      #"[^A-Za-z_]Date\(\)"#, #"Date\.now"#, #"[^A-Za-z_]UUID\(\)"#, #"\.random\(in"#,
      "SystemRandomNumberGenerator",
    ]
    for file in Self.sources
    where file.target == "CairnSync" && !file.name.contains("SyncEnvironment") {
      for (number, text) in file.code {
        for pattern in forbidden {
          #expect(
            (" " + text).range(of: pattern, options: .regularExpression) == nil,
            "\(file.path):\(number) uses \(pattern); take it from SyncEnvironment")
        }
      }
    }
  }

  /// Decide in values: what a planner wants to know, it asks for.
  @Test func planningOfSyncReachesNoStore() {
    let planning = Self.sources.filter { $0.path.contains("CairnSync/Planning/") }
    #expect(planning.count > 10, "the rule looks at the wrong folder")
    for file in planning {
      for module in file.imports {
        #expect(
          ["CairnModel", "Foundation"].contains(module), "\(file.path) imports \(module)")
      }
      for (number, text) in file.code {
        for name in ["Ledger", "StoreAccess", "PersistentStore", "SidecarKeeping"] {
          let used = text.range(
            of: "(^|[^A-Za-z])\(name)([^A-Za-z]|$)", options: .regularExpression)
          #expect(used == nil, "\(file.path):\(number) uses \(name); let a loader read it")
        }
      }
    }
  }

  @Test func testsDoNotSleep() {
    // The calls that this rule forbids, not uses of them.
    let sleeping = ["Thread.sleep", "usleep(", "Task.sleep("]
    let selfName = "SourceShapeTests.swift"
    for file in Self.tests where file.name != selfName {
      for (number, text) in file.code where sleeping.contains(where: text.contains) {
        #expect(
          file.isExplained(line: number),
          "\(file.path):\(number) sleeps; poll for a condition with a deadline")
      }
    }
  }
}
