// The reader on the project's own sources, whole and damaged.

import Foundation
import Testing

@testable import CairnSwiftSource

/// Whatever a file contains: its text is read from the first byte to the last, or refused with a place.
@Suite struct ReaderFuzzTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let files: [[UInt8]] = ["Sources", "Tests", "Examples/Sources"].flatMap { folder in
    let walker = FileManager.default.enumerator(
      at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
    var found: [URL] = []
    while let url = walker?.nextObject() as? URL {
      if url.pathExtension == "swift" { found.append(url) }
    }
    return found.sorted { $0.path < $1.path }.compactMap {
      (try? Data(contentsOf: $0)).map { [UInt8]($0) }
    }
  }

  /// Reads, ports and applies; what is between tokens is nothing but space and comments.
  private func exercise(_ bytes: [UInt8]) throws {
    let source = try SwiftText(path: "A.swift", bytes: bytes)
    var last = 0
    for token in source.tokens {
      try #require(token.range.lowerBound >= last && token.range.upperBound <= bytes.count)
      let gap = source.text(last..<token.range.lowerBound)
        .trimmingCharacters(in: .whitespacesAndNewlines.union(.controlCharacters))
      #expect(
        gap.isEmpty || gap.hasPrefix("//") || gap.hasPrefix("/*") || gap.hasPrefix("#!")
          || gap.hasPrefix("\u{FEFF}"), "\(gap.prefix(40)) is no token")
      last = token.range.upperBound
    }
    let ported = SourcePorting.port(source)
    _ = ported.difference()
    var kept = bytes
    for edit in ported.edits.reversed() where !edit.range.isEmpty {
      kept.removeSubrange(edit.range)
    }
    #expect(ported.bytes.count >= kept.count)
    _ = try DeclarationReader.read(source)
  }

  private func seededNumbers() -> Numbers {
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap(UInt64.init)
    let seed = given ?? UInt64.random(in: 1...UInt64.max)
    print("ReaderFuzzTests: CAIRN_TEST_SEED=\(seed)")
    return Numbers(state: seed)
  }

  /// Two hundred of them; `CAIRN_FUZZ_ROUNDS` asks for all, as `make fuzz` does.
  @Test func sourcesOfTheProjectAreRead() throws {
    #expect(Self.files.count > 500)
    var numbers = seededNumbers()
    let isComplete = ProcessInfo.processInfo.environment["CAIRN_FUZZ_ROUNDS"] != nil
    let drawn = Self.files.shuffled(using: &numbers).prefix(isComplete ? .max : 200)
    for bytes in drawn { try exercise(bytes) }
  }

  @Test(.timeLimit(.minutes(10))) func damagedSourcesAreReadOrRefusedWithAPlace() throws {
    var random = seededNumbers()
    let pieces = [
      "\"", "\"\"\"", "#\"", "\\(", "/*", "*/", "{", "}", "`", "/", "#/", "(", "@", "@objc(",
      "override ", "#if ", "#endif", "<", "extension ", "import ", "class A: ", "\u{0}", "é",
    ]
    var refused = 0
    for _ in 0..<300 {
      var bytes = Self.files[Int.random(in: 0..<Self.files.count, using: &random)]
      for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          let end = min(bytes.count, place + Int.random(in: 1...30, using: &random))
          bytes.removeSubrange(place..<end)
        } else if let piece = pieces.randomElement(using: &random) {
          bytes.insert(contentsOf: Array(piece.utf8), at: place)
        }
      }
      do {
        try exercise(bytes)
      } catch let problem as SourceProblem {
        #expect(problem.line >= 1 && problem.column >= 1 && !problem.reason.isEmpty)
        refused += 1
      }
    }
    #expect(refused > 20, "the damage is too small")
  }

  /// Numbers that a seed repeats.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}
