// What porting keeps, adds and says; the DocC page PortingSources lists it.

import Testing

@testable import CairnSwiftSource

/// Specification: core-data-semantics, chapter 27.
@Suite struct PortingRuleTests {
  private func port(_ text: String, with other: String = "") throws -> PortedSource {
    var classes = ClassNames()
    classes.add(try SwiftText(path: "B.swift", bytes: Array(other.utf8)))
    return SourcePorting.port(
      try SwiftText(path: "A.swift", bytes: Array(text.utf8)), classes: classes)
  }

  private func check(_ before: String, _ after: String, with other: String = "") throws {
    let ported = try port(before, with: other)
    #expect(String(decoding: ported.bytes, as: UTF8.self) == after)
    let again = try port(after, with: other)
    #expect(again.edits == [], "a second time changes nothing")
  }

  // MARK: The sign of @objc

  private static let mark = "#if canImport(ObjectiveC)\n@objc\n#endif\n"

  @Test(arguments: [
    (
      "extension Item {\n@objc var a: Int { 1 }\n}\n",
      "extension Item {\n\(mark)var a: Int { 1 }\n}\n"
    ),
    (
      "extension Item {\npublic @objc dynamic var a: Int { 1 }\n}\n",
      "extension Item {\n\(mark)public var a: Int { 1 }\n}\n"
    ),
    (
      "extension Item { @objc var a: Int { 1 } }\n",
      "extension Item { \n\(mark)var a: Int { 1 } }\n"
    ),
    (
      "extension Item {\n@objc func a() -> Int { 1 }\n}\n",
      "extension Item {\n\(mark)func a() -> Int { 1 }\n}\n"
    ),
    (
      "@objc extension Item {\nvar a: Int { 1 }\n}\n",
      "\(mark)extension Item {\nvar a: Int { 1 }\n}\n"
    ),
    (
      "@objc public class Item {\n@objc func f(_ a: Int) {}\n}\n",
      "public class Item {\nfunc f(_ a: Int) {}\n}\n"
    ),
    (
      "extension NSCache {\n@objc var a: Int { 1 }\n}\n",
      "extension NSCache {\nvar a: Int { 1 }\n}\n"
    ),
  ])
  func objcLeavesASignForKeyValueAccess(_ before: String, _ after: String) throws {
    try check(before, after)
  }

  @Test func otherFilesSayWhatAClassIs() throws {
    let text = "extension Item {\n@objc var a: Int { 1 }\n}\n"
    try check(
      text, "extension Item {\n\(Self.mark)var a: Int { 1 }\n}\n",
      with: "class Base: NSManagedObject {}\nclass Item: Base {}\n")
    try check(
      text, "extension Item {\nvar a: Int { 1 }\n}\n", with: "class Item: UIViewController {}\n")
  }

  @Test(arguments: ["inout Any?", "AutoreleasingUnsafeMutablePointer<AnyObject?>"])
  func aValidationMethodMustBeListedByItsClass(_ type: String) throws {
    let item = """
      class Item: NSManagedObject {
      func validateName(_ value: \(type)) throws {}
      func validateNames() {}
      }

      """
    let isOfRule = { (problem: SourceProblem) in problem.reason.contains("keyValidators") }
    let remarks = try port(item).remarks.filter(isOfRule)
    #expect(remarks.map(\.line) == [2])
    #expect(remarks.first?.reason.contains("[\"name\": .init(Item.validateName)]") == true)
    for list in [
      "extension Item { class var all: [KeyValidator] { [.init(Self.validateName)] } }\n",
      "let rules = [\"name\": KeyValidator(Item.validateName)]\n",
    ] {
      #expect(try port(item, with: list).remarks.filter(isOfRule).isEmpty, "\(list)")
    }
    let other = item.replacing("NSManagedObject", with: "UIViewController")
    #expect(try port(other).remarks.filter(isOfRule).isEmpty)
  }

  @Test func theReaderFindsTheSign() throws {
    let text = "extension Item {\n\(Self.mark)public var a: Int { 1 }\nvar b: Int { 2 }\n}\n"
    let file = try DeclarationReader.read(SwiftText(path: "A.swift", bytes: Array(text.utf8)))
    #expect(file.types[0].variables.map(\.name) == ["a", "b"])
    #expect(file.types[0].variables.map(\.isMarked) == [true, false])
    #expect(file.types[0].variables[0].conditions == [])
  }

  // MARK: Literals

  @Test(arguments: [
    ("let p = \"\\(#keyPath(A.b)) == %@\"\n", "let p = \"\\(\"b\") == %@\"\n"),
    ("let p = #\"\\#(#keyPath(A.b)) == \\(x)\"#\n", "let p = #\"\\#(\"b\") == \\(x)\"#\n"),
    (
      "let p = \"\"\"\n  \\(f(\"\\(#keyPath(A.b))\"))\n  \"\"\"\n",
      "let p = \"\"\"\n  \\(f(\"\\(\"b\")\"))\n  \"\"\"\n"
    ),
    ("let p = Foundation.NSPredicate(value: true)\n", "let p = NSPredicate(value: true)\n"),
  ])
  func codeInsideStringsIsEdited(_ before: String, _ after: String) throws {
    try check(before, after)
  }

  @Test(arguments: [
    "let a = #\"\"\"\"#\n", "let a = ##\"\"\"#\"##\n", "let a = #\"\"\"\n  \" \"\"\"\n  \"\"\"#\n",
    "let a = /\"[^\"]*/\n", "let a = #/ \\/# \" /#\n", "f(/(\"+)\\/x/, 1)\n", "let a = b / c / d\n",
    "let a = [1].reduce(1, /)\nlet b = \"x\"\n", "let `a b` = 0xF_Fp3\n",
    "let a = \"\\u{1F600}\"\n",
    "let a = \"\\\\(b\"\nlet 😀 = 1\n",
  ])
  func everyLiteralIsRead(_ text: String) throws {
    #expect(try port(text).edits == [])
  }

  // MARK: What is missing

  @Test func aMissingImportIsAdded() throws {
    try check(
      "// Head\n\nimport Foundation\nclass A: NSManagedObject {}\n",
      "// Head\n\nimport CoreData\nimport Foundation\nclass A: NSManagedObject {}\n")
  }

  @Test func anImportThatIsNotUsedIsKeptForApple() throws {
    try check(
      "import Combine\nimport Foundation\nlet a = 1\n",
      "#if canImport(Combine)\nimport Combine\n#endif\nimport Foundation\nlet a = 1\n")
  }

  @Test func aMissingInitializerIsAdded() throws {
    let head = "import CoreData\npublic class A: NSManagedObject {"
    let rest =
      "\n  init(name: String) { super.init(entity: e, insertInto: nil) }\n"
      + "  convenience init() { self.init(name: \"\") }\n}\n"
    let added = """

        public override init(
          entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
        ) {
          super.init(entity: entity, insertInto: context)
        }

      """
    try check(head + rest, head + added + rest)
    let plain = head + "\n  convenience init(a: Int) { self.init(context: c) }\n}\n"
    try check(plain, plain)
  }

  // MARK: Remarks

  @Test(arguments: [
    ("extension A {\n  override func f() {}\n}\n", 2, "an extension cannot override"),
    ("let c = NSClassFromString(\"A\")\n", 1, "NSClassFromString"),
    ("#if os(iOS)\nlet a = 1\n#elseif os(macOS)\nlet a = 2\n#endif\n", 1, "no branch"),
    ("class A: NSManagedObject {}\nlet r = A.fetchRequest()\n", 2, "NSFetchRequest<A>"),
  ])
  func whatLinuxCannotDoIsRemarkedOn(_ text: String, _ line: Int, _ reason: String) throws {
    let remarks = try port(text).remarks
    #expect(remarks.map(\.line) == [line])
    #expect(remarks.first?.reason.contains(reason) == true, "\(remarks)")
  }

  @Test(arguments: [
    "#if os(iOS)\nlet a = 1\n#elseif os(macOS)\nlet a = 2\n#else\nlet a = 3\n#endif\n",
    "#if os(iOS)\nlet a = 1\n#endif\n",
    "let r: NSFetchRequest<A> = A.fetchRequest()\nlet s = r as! NSFetchRequest<A>\n",
    "let r = NSFetchRequest<B>(entityName: \"\")\nlet s = r as? NSFetchRequest<B>\n",
    "class A: NSManagedObject {\n  override func f() {}\n}\n",
    "class A: NSManagedObject {\n  class func fetchRequest() -> NSFetchRequest<A> { x }\n}\n"
      + "let r = A.fetchRequest()\n",
  ])
  func whatIsRightIsNotRemarkedOn(_ text: String) throws {
    #expect(try port(text).remarks == [])
  }
}
