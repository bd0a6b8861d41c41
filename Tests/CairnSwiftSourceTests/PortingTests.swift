// The edits that sources for Apple's platforms need. Specification: chapter 27; the DocC page
// PortingSources lists them.

import Testing

@testable import CairnSwiftSource

@Suite struct PortingTests {
  private func port(_ text: String) throws -> PortedSource {
    SourcePorting.port(try SwiftText(path: "A.swift", bytes: Array(text.utf8)))
  }

  @Test(arguments: [
    (
      "@objc(Item)\npublic class Item: NSManagedObject {}\n",
      "public class Item: NSManagedObject {}\n"
    ),
    (
      "@objc(CDItem) class Item: NSManagedObject {}\n",
      "#if canImport(ObjectiveC)\n@objc(CDItem)\n#endif\nclass Item: NSManagedObject {}\n"
    ),
    (
      "@objcMembers final class A: NSObject {\n  @objc dynamic var x = 1\n}\n",
      "final class A: NSObject {\n  var x = 1\n}\n"
    ),
    ("class A {\n  @objc\n  func f() {}\n}\n", "class A {\n  func f() {}\n}\n"),
    ("@objc enum E: Int { case a }\n", "enum E: Int { case a }\n"),
    ("let k = #keyPath(Item.parent.name)\n", "let k = \"parent.name\"\n"),
    ("let k = [#keyPath(name), #keyPath(Outer.Item.title)]\n", "let k = [\"name\", \"title\"]\n"),
    (
      "let s = NSSortDescriptor(key: \"a\", ascending: true, selector: "
        + "#selector(NSString.localizedStandardCompare(_:)))\n",
      "let s = NSSortDescriptor(key: \"a\", ascending: true, selector: "
        + "Selector(\"localizedStandardCompare:\"))\n"
    ),
    (
      "let s = NSSortDescriptor(key: nil, ascending: true, selector: "
        + "#selector(NSString.caseInsensitiveCompare))\n",
      "let s = NSSortDescriptor(key: nil, ascending: true, selector: "
        + "Selector(\"caseInsensitiveCompare:\"))\n"
    ),
    (
      "import class CoreData.NSManagedObject\nimport Foundation\n",
      "import CoreData\nimport Foundation\n"
    ),
    ("@preconcurrency import CoreData\n", "@preconcurrency import CoreData\n"),
    ("@NSManaged public dynamic var a: String?\n", "@NSManaged public var a: String?\n"),
  ])
  func editsAreMade(_ edited: String, _ wanted: String) throws {
    let (before, after) = ("import CoreData\n" + edited, "import CoreData\n" + wanted)
    let ported = try port(before)
    #expect(String(decoding: ported.bytes, as: UTF8.self) == after)
    #expect(ported.remarks == [])
    let again = try port(after)
    #expect(again.edits == [] && again.remarks == [], "a second time changes nothing")
  }

  @Test(arguments: [
    "#if canImport(ObjectiveC)\n@objc(CDItem)\n#endif\nclass Item {}\n",
    "#if os(iOS)\nimport UIKit\n@objc class A: NSObject {}\n#endif\n",
    "#if os(Linux)\nlet a = 1\n#else\n@objc class A: NSObject {}\n#endif\n",
    "#if !canImport(UIKit)\nlet a = 1\n#elseif os(macOS)\n@objcMembers class A {}\n#endif\n",
    "// @objc dynamic #keyPath(A.b)\n/* @objc /* nested */ #selector(x) */\nlet a = 1\n",
    "let text = \"@objc \\(name(\"#keyPath(A.b)\")) dynamic\"\n",
    "let raw = #\"a \" @objc\"#\nlet long = \"\"\"\n  @objc \"quoted\"\n  \"\"\"\n",
    "let dynamic = 1\nlet b = dynamic\nfoo(dynamic: 2)\nenum E { case dynamic }\n",
    "import CoreData\nlet r = T.fetchRequest() as NSFetchRequest<T>\nlet o = a as? [Item]\n",
  ])
  func whatLinuxDoesNotCompileOrIsNoCodeIsLeftAlone(_ text: String) throws {
    let ported = try port(text)
    #expect(ported.edits == [])
    #expect(ported.remarks == [])
  }

  @Test func aRequestOfAClassIsMadeWithTheTypeItIsCastTo() throws {
    let ported = try port("import CoreData\nlet r = T.fetchRequest() as! NSFetchRequest<T>\n")
    let text = String(decoding: ported.bytes, as: UTF8.self)
    #expect(text == "import CoreData\nlet r = T.fetchRequest() as NSFetchRequest<T>\n")
    #expect(ported.remarks == [])
  }

  @Test(arguments: [
    ("import Foundation\nimport SwiftUI\nvar a: Color?\n", 2, "there is no SwiftUI on Linux"),
    ("nc.addObserver(self, selector: #selector(f(_:)), name: n, object: nil)\n", 1, "closure"),
    ("protocol P {\n  @objc optional func f()\n}\n", 2, "optional requirements"),
    ("let k = #keyPath(Outer.Inner)\n", 1, "where the type ends"),
    (
      "let s = NSSortDescriptor(key: \"a\", ascending: true, selector: #selector(mine))\n", 1,
      "labels"
    ),
    (
      "let r = Item.fetchRequest()\nlet d = f(r as! NSFetchRequest<NSFetchRequestResult>)\n", 2,
      "another result"
    ),
    ("let v = template as? NSFetchRequest<Venue>\n", 1, "cannot be cast"),
    ("let v = Venue.fetchRequest() as? NSFetchRequest<Venue>\n", 1, "cannot be cast"),
    ("var o: NSKeyValueObservation?\n", 1, "key-value observing"),
    ("class A { @IBOutlet var b: Int }\n", 1, "user interface"),
    ("class A {\n  func f(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) {}\n}\n", 2, "inout"),
  ])
  func whatIsLeftForAPersonHasItsPlaceAndReason(
    _ text: String, _ line: Int, _ reason: String
  ) throws {
    let remarks = try port(text).remarks
    #expect(remarks.map(\.line) == [line])
    #expect(remarks.first?.reason.contains(reason) == true, "\(remarks)")
  }

  @Test(arguments: [
    ("let a = \"no end\nlet b = 1\n", 1, "this string has no end"),
    ("let a = 1\n/* no end\n", 2, "this comment has no end"),
    ("let a = \"\\(b\n", 1, "no end"),
  ])
  func whatCannotBeReadIsRefusedWithItsPlace(_ text: String, _ line: Int, _ reason: String) throws {
    #expect {
      try port(text)
    } throws: { error in
      guard let problem = error as? SourceProblem else { return false }
      return problem.line == line && problem.reason.contains(reason)
    }
  }

  @Test func theDifferenceIsUnified() throws {
    let lines = (1...20).map { "let a\($0) = \($0)" }
    var text = lines
    text[4] = "let a5 = #keyPath(A.b)"
    text[17] = "@objc let a18 = 18"
    let ported = try port(text.joined(separator: "\n") + "\n")
    #expect(
      ported.difference(context: 1) == """
        --- A.swift
        +++ A.swift
        @@ -4,3 +4,3 @@
         let a4 = 4
        -let a5 = #keyPath(A.b)
        +let a5 = "b"
         let a6 = 6
        @@ -17,3 +17,3 @@
         let a17 = 17
        -@objc let a18 = 18
        +let a18 = 18
         let a19 = 19

        """)
    #expect(try port("let a = 1\n").difference() == "")
  }
}
