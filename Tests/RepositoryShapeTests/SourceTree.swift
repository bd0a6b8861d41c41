// The repository as the shape tests read it: text files, found from this file's own place.

import Foundation

/// One source file as text.
struct SourceFile: Sendable {
  /// The path from the repository's root, such as `Sources/CairnModel/Model/EntityDescription.swift`.
  let path: String
  let lines: [String]
  /// Lines that are code: without comments, with their 1-based numbers.
  let code: [(number: Int, text: String)]

  init(path: String, lines: [String]) {
    self.path = path
    self.lines = lines
    imports = Self.imports(in: lines)
    code = lines.enumerated().compactMap { index, line in
      // Bytes, as characters are slow in debug builds.
      let trimmed = line.utf8.drop { $0 == UInt8(ascii: " ") }
      return trimmed.isEmpty || trimmed.starts(with: "//".utf8) ? nil : (index + 1, line)
    }
  }

  /// The target (or test target) that the file belongs to.
  var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The modules that the file imports.
  let imports: [String]

  private static func imports(in lines: [String]) -> [String] {
    lines.compactMap { line in
      // A look at the first byte: words are slow in debug builds.
      guard let first = line.utf8.first, first >= UInt8(ascii: "@") else { return nil }
      var words = line.split(separator: " ").map(String.init)
      while let first = words.first, first.hasPrefix("@") || Self.accessLevels.contains(first) {
        words.removeFirst()
      }
      guard words.first == "import", words.count > 1 else { return nil }
      let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
      let module = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
      return module.split(separator: ".").first.map(String.init)
    }
  }
  private static let accessLevels: Set<String> = [
    "public", "package", "internal", "private", "fileprivate",
  ]

  /// Whether a comment that gives a reason stands directly before the line, or on it.
  func isExplained(line number: Int) -> Bool {
    if lines[number - 1].contains("//") { return true }
    var index = number - 2
    // A declaration can begin lines before the word in question, and carry attributes.
    while index >= 0, number - index <= 8 {
      let trimmed = lines[index].trimmingCharacters(in: .whitespaces)
      if trimmed.hasPrefix("//") { return true }
      if trimmed.isEmpty || trimmed.hasSuffix("}") || trimmed.hasSuffix("{") { return false }
      index -= 1
    }
    return false
  }
}

/// Everything under the repository's root.
enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The sources of the package, sorted by path.
  static let sources = swiftFiles(under: "Sources")
  /// The tests and what they use, sorted by path.
  static let tests = swiftFiles(under: "Tests")

  /// Swift files below a folder of the root, sorted by path.
  private static func swiftFiles(under folder: String) -> [SourceFile] {
    files(under: folder).filter { $0.hasSuffix(".swift") }.compactMap { path in
      guard let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
      else { return nil }
      let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      return SourceFile(path: path, lines: lines.map { String(Substring($0)) })
    }
  }

  /// The paths of all files below a folder of the root, from the root, sorted.
  static func files(under folder: String) -> [String] {
    let base = root.appendingPathComponent(folder)
    guard let walker = FileManager.default.enumerator(atPath: base.path) else { return [] }
    var found: [String] = []
    while let entry = walker.nextObject() as? String {
      if entry.hasPrefix(".build") || entry.contains("/.build") { continue }
      var isFolder: ObjCBool = false
      let path = base.appendingPathComponent(entry).path
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
        found.append(folder + "/" + entry)
      }
    }
    return found.sorted()
  }

  static func text(of path: String) -> String? {
    try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }
}
