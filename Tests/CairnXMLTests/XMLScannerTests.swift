// The scanner beside FoundationXML's parser, and what it refuses.

import CairnTesting
import CairnXML
import Foundation
import FoundationXML
import TestSupport
import Testing

/// XML 1.0, as far as models and data files use it.
@Suite struct XMLScannerTests {
  /// A document as a list of its elements with their texts; nil when it is refused.
  private static func scanned(_ data: Data, _ rules: XMLScanner.Rules = .document) -> Tree? {
    var scanner = XMLScanner(data, rules)
    var tree = Tree()
    do {
      while true {
        switch try scanner.next() {
        case .start(let name, let attributes): tree.begin(name, attributes)
        case .text(let text): tree.add(text)
        case .end: tree.end()
        case .endOfDocument: return tree
        }
      }
    } catch { return nil }
  }

  private static func problem(
    _ text: String, _ rules: XMLScanner.Rules = .document
  ) -> (message: String, line: Int)? {
    var scanner = XMLScanner(Data(text.utf8), rules)
    do {
      while try scanner.next() != .endOfDocument {}
      return nil
    } catch let problem as XMLScanner.Problem {
      return (problem.message, scanner.line(at: problem.place))
    } catch { return ("\(error)", 0) }
  }

  /// Documents that both readers are given.
  private static let documents =
    [HostileModel.document, HostileModelDocuments.mapping]
    + [
      "<?xml version=\"1.0\"?>\r\n<a b=\"1 &#10;2\t3\r\n4\n5\" c='\"'>x\r\ny\r<![CDATA[<&]]>z</a>",
      "<!-- n\u{F6}te --><?made by?><\u{E4} \u{F6}=\"&lt;&amp;&#xE9;\">&gt;&quot;&apos;\n</\u{E4}>\n",
      "<a><b><c/></b> <b x=\"\" /></a>", "<a.b-c _e=\"&#xE9;\"/>",
    ]

  @Test func itReadsWhatFoundationXMLReads() throws {
    for text in Self.documents {
      let data = Data(text.utf8)
      let known = try #require(FoundationTree.read(data), "\(text)")
      #expect(Self.scanned(data)?.lines == known, "\(text)")
    }
  }

  /// What both take is the same, and the scanner takes nothing that is not well-formed.
  @Test func damagedDocumentsMeanTheSameOrAreRefused() {
    let seed = TestSeed.get("damaged XML")
    var numbers = SeededNumbers(seed: seed)
    var both = 0
    for number in 0..<3000 {
      let text = Self.documents[number % Self.documents.count]
      let data = HostileDocuments.damageXML(text, using: &numbers)
      // FoundationXML on Linux traps on names whose bytes are no UTF-8.
      // It wants prefixes declared as well, which are a rule of another specification.
      guard String(validating: data, as: UTF8.self) != nil, let ours = Self.scanned(data),
        !ours.hasPrefixes
      else { continue }
      both += 1
      #expect(
        FoundationTree.read(data) == ours.lines,
        "seed \(seed), case \(number): \(String(decoding: data, as: UTF8.self))")
    }
    #expect(both > 500, "seed \(seed)")
  }

  @Test(arguments: [
    "<a", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a b=\"<\"/>", "<a></b>", "</a>", "<a/><b/>", "text",
    "<a/>text", "<a>&b;</a>", "<a>&#0;</a>", "<a>&#xFFFF;</a>", "<a>\u{1}</a>", "<a>]]></a>",
    "<a b=\"1\"c=\"2\"/>", "<1/>", "<a><!-- -- --></a>", "<a><?xml version=\"1.0\"?></a>", "",
    "<?a!b?><a/>", "<?a?b?><a/>", "<? a?><a/>",
    "<?xml?><a/>", "<?xml version=\"2\"?><a/>", "<?xml version='1.0' standalone=''?><a/>",
    "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>",
  ])
  func whatIsNotWellFormedIsRefused(_ text: String) {
    #expect(Self.problem(text) != nil)
  }

  @Test(arguments: ["UTF-8", "utf8", "us-ascii"])
  func aDeclarationMayNameTheEncodingInAnySpelling(_ encoding: String) {
    #expect(Self.problem("<?xml version=\"1.0\" encoding=\"\(encoding)\"?><a/>") == nil)
  }

  @Test func aProblemHasItsLine() {
    #expect(Self.problem("<a>\n<b>\n</a>")?.line == 3)
    #expect(Self.problem("<a>\n\n<b c=\"1\" c=\"2\"/></a>")?.line == 3)
  }

  @Test func eventsHaveTheLineOnWhichTheyBegin() throws {
    let text = "<?xml version=\"1.0\"?>\n<a>\n  <b\n  c=\"\"/>\n</a>"
    var scanner = XMLScanner(Data(text.utf8), .document)
    var lines: [String: Int] = [:]
    while true {
      let event = try scanner.next()
      if case .start(let name, _) = event { lines[name] = scanner.eventLine() }
      if event == .endOfDocument { break }
    }
    #expect(lines == ["a": 2, "b": 3])
  }

  @Test func nestingHasABound() {
    let deep = String(repeating: "<a>", count: XMLScanner.deepest)
    let whole = deep + String(repeating: "</a>", count: XMLScanner.deepest)
    #expect(Self.problem(whole) == nil)
    var scanner = XMLScanner(Data("<a>\(whole)</a>".utf8), .document)
    let problem = #expect(throws: XMLScanner.Problem.self) {
      while try scanner.next() != .endOfDocument {}
    }
    #expect(problem?.isTooDeep == true)
  }

  /// Strings of a store hold any character.
  @Test func dataFilesHaveEveryCharacterByNumber() {
    let text = "<a b=\"1\n&#1;\">&#xFFFF;</a>"
    #expect(Self.scanned(Data(text.utf8), .dataFile)?.lines == ["<a b=1\n\u{1}>\u{FFFF}</>"])
    #expect(Self.problem(text) != nil)
  }
}

/// Elements in their order, each with its attributes and what it holds as text.
private struct Tree {
  private(set) var lines: [String] = []
  /// Whether a name has a prefix for a namespace.
  private(set) var hasPrefixes = false

  mutating func begin(_ name: String, _ attributes: [String: String]) {
    if ([name] + attributes.keys).contains(where: { $0.contains(":") }) { hasPrefixes = true }
    let facts = attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    lines.append("<\(name)\(facts.joined())>")
  }
  mutating func add(_ text: String) { lines[lines.count - 1] += text }
  mutating func end() { lines[lines.count - 1] += "</>" }
}

/// The same by FoundationXML.
private final class FoundationTree: NSObject, XMLParserDelegate {
  private var tree = Tree()
  private var problem: (any Error)?

  static func read(_ data: Data) -> [String]? {
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    let reader = FoundationTree()
    parser.delegate = reader
    guard parser.parse(), reader.problem == nil, parser.parserError == nil else { return nil }
    return reader.tree.lines
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    problem = problem ?? parseError
  }
  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes attributeDict: [String: String]
  ) { tree.begin(elementName, attributeDict) }
  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?
  ) { tree.end() }
  func parser(_ parser: XMLParser, foundCharacters string: String) { tree.add(string) }
  func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) {
    tree.add(String(decoding: CDATABlock, as: UTF8.self))
  }
}
