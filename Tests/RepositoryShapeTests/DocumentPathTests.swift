// What the documents name of the repository is there: files, folders, suites, tests, make targets, links.

import Foundation
import Testing

@Suite struct DocumentPathTests {
  /// What a document says in `code`, with the places that it is looked for in.
  struct Document: Sendable, CustomTestStringConvertible {
    let path: String
    let text: String
    /// The code spans outside of blocks.
    let spans: [String]

    init(path: String, text: String) {
      (self.path, self.text) = (path, text)
      var isBlock = false
      var spans: [String] = []
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.drop(while: { $0 == " " }).hasPrefix("```") { isBlock.toggle() }
        if isBlock { continue }
        // Odd pieces stand between single marks; DocC's symbols have double ones.
        let pieces = line.replacing("``", with: "\u{0}").split(
          separator: "`", omittingEmptySubsequences: false)
        spans += pieces.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
      }
      self.spans = spans
    }

    var testDescription: String { path }
    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }
  }

  static let documents: [Document] = {
    let roots = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    let below = ["Sources", "Tests", "Benchmarks", "Examples"].flatMap(SourceTree.files)
    return (roots + below.filter { $0.hasSuffix(".md") }).compactMap { path in
      SourceTree.text(of: path).map { Document(path: path, text: $0) }
    }
  }()

  /// Every file below the root, and every folder that holds one.
  static let places: Set<String> = {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)) ?? []
    var places: Set<String> = []
    for entry in entries where entry == ".github" || !entry.hasPrefix(".") {
      places.insert(entry)
      for file in SourceTree.files(under: entry) {
        var parts = file.split(separator: "/")
        while !parts.isEmpty {
          places.insert(parts.joined(separator: "/"))
          parts.removeLast()
        }
      }
    }
    return places
  }()

  static let targets = Set(
    places.filter { $0.hasPrefix("Sources/") || $0.hasPrefix("Tests/") }.map {
      String($0.split(separator: "/")[1])
    })

  /// Paths of the repository that no checkout has, each with the reason.
  static let exceptions = [
    ".build/sanitize-KIND": "a build makes it, and KIND stands for a word",
    ".build/sanitize-KIND/reports": "a build makes it, and KIND stands for a word",
  ]

  private static func isThere(_ path: String, from document: Document) -> Bool {
    let path = path.hasSuffix("/") ? String(path.dropLast()) : path
    let bases = ["", document.folder, "Sources", "Tests", "Sources/Cairn/Cairn.docc"]
    return bases.contains { base in
      let whole = base.isEmpty ? path : "\(base)/\(path)"
      if places.contains(whole) { return true }
      // A decision is named by its number alone.
      return whole.contains("Decisions/") && places.contains { $0.hasPrefix("\(whole)-") }
    }
  }

  @Test func theDocumentsAreFound() {
    let paths = Set(Self.documents.map(\.path))
    for path in ["README.md", "Tests/README.md", "Benchmarks/README.md"] {
      #expect(paths.contains(path))
    }
    #expect(paths.count > 50)
    #expect(Self.documents.reduce(0) { $0 + $1.spans.count } > 2_000)
  }

  @Test(arguments: documents)
  func pathsLeadSomewhere(_ document: Document) {
    for span in document.spans where Self.exceptions[span] == nil {
      guard span.wholeMatch(of: /[\w.+-]+(\/[\w.+-]+)+\/?/) != nil else { continue }
      let first = span.split(separator: "/")[0]
      // Others are methods, media types, and paths of machines.
      guard Self.places.contains(String(first)) || Self.targets.contains(String(first)) else {
        continue
      }
      #expect(Self.isThere(span, from: document), "\(document.path) names \(span)")
    }
  }

  @Test(arguments: documents)
  func filesNamedAloneAreThere(_ document: Document) {
    let names = Set(Self.places.map { String($0.split(separator: "/").last ?? "") })
    for span in document.spans where span.wholeMatch(of: /[\w+-]+\.(swift|md|sh|py)/) != nil {
      #expect(names.contains(span), "\(document.path) names \(span)")
    }
  }

  @Test(arguments: documents)
  func suitesAndTheirTestsAreThere(_ document: Document) {
    for span in document.spans {
      guard let match = span.wholeMatch(of: /([A-Z]\w*Tests)(?:\.(\w+)(?:\(.*\))?)?/),
        // A file, which the test before looks for.
        match.2 != "swift"
      else { continue }
      let suite = String(match.1)
      guard let declared = Self.suites[suite] else {
        #expect(Self.targets.contains(suite), "\(document.path) names \(span)")
        continue
      }
      if let test = match.2 {
        #expect(declared.contains("func \(test)("), "\(document.path) names \(span)")
      }
    }
  }

  /// The text of each suite's files, by the suite's name.
  private static let suites: [String: String] = {
    var suites: [String: String] = [:]
    for file in SourceShapeTests.tests {
      let text = file.lines.joined(separator: "\n")
      // A look at the words first: expressions are slow in debug builds.
      let declarations = file.lines.filter {
        $0.utf8.last == UInt8(ascii: "{") && $0.contains("Tests")
      }
      for match in declarations.joined(separator: "\n").matches(
        of: /(?:struct|class|enum|actor|extension) ([A-Z]\w*Tests)\b/)
      {
        suites[String(match.1), default: ""] += text
      }
    }
    return suites
  }()

  @Test(arguments: documents)
  func targetsOfMakeAreThere(_ document: Document) throws {
    let makefile = "\n" + (try #require(SourceTree.text(of: "Makefile")))
    for span in document.spans {
      guard let match = span.prefixMatch(of: /make ([a-z][a-z-]*)/) else { continue }
      #expect(makefile.contains("\n\(match.1):"), "\(document.path) names \(span)")
    }
  }

  @Test(arguments: documents)
  func linksLeadSomewhere(_ document: Document) {
    for match in document.text.matches(of: /\]\(([^)\s]+)\)/) {
      let link = String(match.1.prefix { $0 != "#" })
      if link.isEmpty || link.contains(":") { continue }
      let base = SourceTree.root.appendingPathComponent(document.folder)
      #expect(
        FileManager.default.fileExists(atPath: base.appendingPathComponent(link).path),
        "\(document.path) links to \(link)")
    }
    for match in document.text.matches(of: /<doc:([\w-]+)>/) {
      #expect(
        Self.places.contains { $0.hasSuffix("/\(match.1).md") },
        "\(document.path) links to \(match.1)")
    }
  }
}
