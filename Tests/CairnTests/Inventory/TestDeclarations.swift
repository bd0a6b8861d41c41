// What tests are made of besides themselves: fixtures, classes and stores of tests, helper functions.

import Foundation

struct TestDeclarations {
  /// The text of types that tests declare, but of suites; by name.
  private var types: [Substring: String] = [:]
  private var namedByTypes: [Substring: Set<Substring>] = [:]
  /// The text of functions of suites, by the text of their file and by name.
  private var functions: [String: [Substring: String]] = [:]

  init(folder: URL) throws {
    guard let walker = FileManager.default.enumerator(atPath: folder.path) else { return }
    while let path = walker.nextObject() as? String {
      guard path.hasSuffix(".swift"), !path.contains("Inventory"), !path.contains("consumers")
      else { continue }
      read(try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8))
    }
    namedByTypes = types.mapValues { Self.identifiers(in: $0) }
  }

  /// Tests with the text of the functions and types they name, and of those that these name.
  func completing(_ tests: [TestText]) -> [TestText] {
    tests.map { test in
      var test = test
      let functions = functions[test.file] ?? [:]
      var seen: Set<Substring> = []
      var next = Self.identifiers(in: test.body)
      test.identifiers = next
      for _ in 0..<3 {
        let new = next.filter {
          (types[$0] != nil || functions[$0] != nil) && seen.insert($0).inserted
        }
        next = []
        for name in new.sorted() {
          if let function = functions[name] {
            test.body += function
            next.formUnion(Self.identifiers(in: function))
          }
          test.body += types[name] ?? ""
          next.formUnion(namedByTypes[name] ?? [])
        }
        test.identifiers.formUnion(next)
      }
      return test
    }
  }

  private static func identifiers(in text: String) -> Set<Substring> {
    Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
  }

  // MARK: Reading

  private struct Declaration {
    let name: Substring
    let isType: Bool
    let indent: Int
    var lines: [Substring]
  }

  private mutating func read(_ file: String) {
    var open: Declaration?
    var previous: Substring = ""
    for line in file.split(separator: "\n") {
      let indent = line.prefix { $0 == " " }.count
      if open != nil {
        open?.lines.append(line)
        if indent <= open?.indent ?? 0, line.dropFirst(indent).hasPrefix("}") {
          close(&open, of: file)
        }
      } else if indent == 0 || indent == 2, !line.contains("@Suite"),
        !(line + previous).contains("@Test"), let found = Self.declaration(line, indent)
      {
        open = found
        if line.hasSuffix("}") { close(&open, of: file) }
      }
      previous = line
    }
  }

  private mutating func close(_ open: inout Declaration?, of file: String) {
    guard let declaration = open else { return }
    open = nil
    let text = declaration.lines.joined(separator: "\n")
    if !declaration.isType {
      functions[file, default: [:]][declaration.name, default: ""] += text
    } else if !text.contains("@Test") {
      types[declaration.name, default: ""] += text
    }
  }

  private static func declaration(_ line: Substring, _ indent: Int) -> Declaration? {
    let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    let kinds = ["class", "struct", "enum", "extension", "func"]
    let place = words.firstIndex {
      kinds.contains(String($0))
    }
    guard let place, place + 1 < words.count,
      words[..<place].allSatisfy({
        ["private", "fileprivate", "final", "open", "public", "static"].contains($0)
      })
    else { return nil }
    let isType = words[place] != "func"
    // The braces of a type open on its line.
    if isType, !line.hasSuffix("{"), !line.hasSuffix("}") { return nil }
    return Declaration(name: words[place + 1], isType: isType, indent: indent, lines: [line])
  }
}
