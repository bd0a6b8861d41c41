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
    code = lines.enumerated().compactMap { index, line in
      let trimmed = line.drop { $0 == " " }
      return trimmed.hasPrefix("//") || trimmed.isEmpty ? nil : (index + 1, line)
    }
  }

  /// The target (or test target) that the file belongs to.
  var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The modules that the file imports.
  var imports: [String] {
    lines.compactMap { line in
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

  /// Swift files below a folder of the root, sorted by path.
  static func swiftFiles(under folder: String) -> [SourceFile] {
    files(under: folder).filter { $0.hasSuffix(".swift") }.compactMap { path in
      guard let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
      else { return nil }
      return SourceFile(path: path, lines: text.components(separatedBy: "\n"))
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
