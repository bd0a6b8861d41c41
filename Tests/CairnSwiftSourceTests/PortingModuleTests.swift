// What porting does with modules that Linux lacks, with files of the user interface, and with overrides
// in extensions. The DocC page PortingSources lists the rules.

import Testing

@testable import CairnSwiftSource

@Suite struct PortingModuleTests {
  private func port(_ text: String, with others: String...) throws -> PortedSource {
    var classes = ClassNames()
    for other in others {
      classes.add(try SwiftText(path: "Other.swift", bytes: Array(other.utf8)))
    }
    return SourcePorting.port(
      try SwiftText(path: "A.swift", bytes: Array(text.utf8)), classes: classes)
  }

  private func check(
    _ before: String, _ after: String, with other: String = "",
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let ported = try port(before, with: other)
    #expect(String(decoding: ported.bytes, as: UTF8.self) == after, sourceLocation: location)
    #expect(ported.remarks == [], sourceLocation: location)
    let again = try port(after, with: other)
    #expect(again.edits == [] && again.remarks == [], sourceLocation: location)
  }

  // MARK: Modules

  @Test(arguments: [
    ("UIKit", "let a: CGFloat = 1\nlet b = NSAttributedString(string: \"\")\n"),
    ("SwiftUI", "let a = StateMachine()\n"), ("os", "let a = 1\n"), ("HealthKit", "let a = 1\n"),
    ("GameplayKit", "let a = CGMManager()\n"),
    ("SwiftUI", "class A {\n  let a: State\n  enum State { case b }\n}\n"),
    ("WebKit", "let a = \"WKWebView\"\n"),
  ])
  func aModuleOfWhichNothingIsNamedIsImportedWhereItIs(_ module: String, _ rest: String) throws {
    try check(
      "import \(module)\n" + rest, "#if canImport(\(module))\nimport \(module)\n#endif\n" + rest)
  }

  @Test func theWholeLineOfAnImportIsConditional() throws {
    try check(
      "@preconcurrency import UIKit  // images\nlet a = 1\n",
      "#if canImport(UIKit)\n@preconcurrency import UIKit  // images\n#endif\nlet a = 1\n")
  }

  @Test(arguments: [
    ("UIKit", "let a = UIColor.red\n"), ("SwiftUI", "@State var a = 1\n"),
    ("os", "let a = Logger()\n"), ("HealthKit", "let a = HKUnit.gram()\n"),
    ("GameplayKit", "let a: GKStateMachine? = nil\n"), ("UIKit", "let a = \"\\(UIImage())\"\n"),
  ])
  func aModuleThatTheFileNeedsIsRemarkedOn(_ module: String, _ rest: String) throws {
    let ported = try port("import \(module)\n" + rest)
    #expect(ported.edits == [])
    #expect(ported.remarks.first?.reason.hasPrefix("there is no \(module) on Linux") == true)
  }

  @Test func aNameOfUIKitIsRemarkedOnThoughAnotherModuleBringsIt() throws {
    let remarks = try port("import Shared\nlet a = [\n  UIDevice.current,\n  UIImage(),\n]\n")
      .remarks
    #expect(remarks.map(\.line) == [3] && remarks[0].reason.contains("UIDevice is of UIKit"))
    let own = "let a: UIThing? = nil\nclass UIThing {}\nlet b = c.UIName\n"
    #expect(try port(own).remarks == [])
  }

  @Test(arguments: [
    "let a = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: \"a\")",
    "let a = NSPersistentCloudKitContainer(name: \"a\")",
  ])
  func whatAModuleHasOnLinuxInPartIsRemarkedOn(_ text: String) throws {
    #expect(try port(text + "\n").remarks.map(\.line) == [1])
  }

  @Test func combineIsReplacedByThePackageWithItsNames() throws {
    try check(
      "import Combine\nclass A: ObservableObject {\n  @Published var a = 1\n}\n",
      "#if canImport(Combine)\nimport Combine\n#else\nimport OpenCombineShim\n#endif\n"
        + "class A: ObservableObject {\n  @Published var a = 1\n}\n")
  }

  @Test(arguments: [
    "class A: ObservableObject {}\n", "class A {\n  @Published var a = 1\n}\n",
    "let a = PassthroughSubject<Int, Never>()\n",
  ])
  func combineIsImportedWhereFoundationBringsItOnApplesPlatforms(_ rest: String) throws {
    try check(
      "// Head\nimport Foundation\n" + rest,
      "// Head\n#if canImport(Combine)\nimport Combine\n#else\nimport OpenCombineShim\n#endif\n"
        + "import Foundation\n" + rest)
    let own = "class AnyCancellable {}\nlet a = AnyCancellable()\n"
    try check(own, own)
  }

  // MARK: The user interface

  @Test(arguments: [
    "import UIKit\nclass A: UIViewController {\n  @IBOutlet var b: UIView!\n}\n",
    "import SwiftUI\nstruct A: View {\n  @FetchRequest var b: Int\n}\n",
    "import UIKit\nextension B: UITableViewDataSource {}\n",
    "import UIKit\nextension UIFont {\n  @objc var a: Int { 1 }\n}\n",
    "import UIKit\nimport CoreData\nfinal class A: B<Int, UIView> {}\nclass B: BaseViewController {}\n",
  ])
  func aFileOfTheUserInterfaceIsPutBehindItsModule(_ text: String) throws {
    let module = text.hasPrefix("import UIKit") ? "UIKit" : "SwiftUI"
    try check("// Head\n" + text, "// Head\n#if canImport(\(module))\n\(text)#endif\n")
  }

  @Test func otherFilesSayThatAClassIsAController() throws {
    let text = "import UIKit\nextension Menu {\n  @objc func f() {}\n}\n"
    try check(
      text, "#if canImport(UIKit)\n\(text)#endif\n", with: "class Menu: UITableViewController {}\n")
  }

  @Test func aFileThatAlsoHasAClassOfTheModelIsNot() throws {
    let text = "import UIKit\nclass A: UIView {}\nclass B: NSManagedObject {}\nimport CoreData\n"
    #expect(try port(text).remarks.map(\.line) == [1])
    let other = "import UIKit\nclass A: UIView {}\nextension B { }\n"
    #expect(try port(other, with: "class B: NSManagedObject {}\n").remarks.map(\.line) == [1])
  }

  // MARK: Overrides in extensions

  @Test func anOverrideGoesIntoItsClassWithItsCommentAndAccess() throws {
    try check(
      """
      import CoreData
      public class A: NSManagedObject {
        var a = 1
      }
      public extension A {
        /// New.
        override func awakeFromInsert() {
          setPrimitiveValue(1, forKey: #keyPath(A.a))
        }
        func b() {}
      }

      """,
      """
      import CoreData
      public class A: NSManagedObject {
        var a = 1

        /// New.
        public override func awakeFromInsert() {
          setPrimitiveValue(1, forKey: "a")
        }
      }
      public extension A {
        func b() {}
      }

      """)
  }

  @Test func aPropertyWithoutBodyGoesToo() throws {
    try check(
      "import CoreData\nclass A: NSManagedObject {\n}\nextension A {\n"
        + "  @NSManaged override var isDeleted: Bool\n  @NSManaged var b: Int\n}\n",
      "import CoreData\nclass A: NSManagedObject {\n\n  @NSManaged override var isDeleted: Bool\n}\n"
        + "extension A {\n  @NSManaged var b: Int\n}\n")
  }

  @Test func whatIsOnlyCalledOverrideIsNoOverride() throws {
    let text = "extension A {\n  @NSManaged var override: B?\n  func f(override: Bool) {}\n}\n"
    try check(text, text)
  }

  // MARK: Key-value access

  @Test(arguments: [
    ("@objc private var a: Int { 1 }", "private"), ("fileprivate @objc var a = 1", "private"),
    ("@MainActor @objc var a = 1", "actor"), ("@objc @StoreActor var a = 1", "actor"),
  ])
  func aPropertyThatKeysCannotReachIsRemarkedOn(_ text: String, _ reason: String) throws {
    let remarks = try port("import CoreData\nclass A: NSManagedObject {\n  \(text)\n}\n").remarks
    #expect(remarks.map(\.line) == [3] && remarks[0].reason.contains(reason), "\(remarks)")
  }

  @Test(arguments: [
    "@objc private(set) var a = 1", "@objc lazy var a = 1",
    "@MainActor @objc nonisolated var a: Int { 1 }",
    "@objc var a = 1 {\n    didSet {}\n  }", "@objc private func f() {}", "@objc static var a = 1",
  ])
  func whatKeysReachOrNeedNotIsNotRemarkedOn(_ text: String) throws {
    #expect(
      try port("import CoreData\nclass A: NSManagedObject {\n  \(text)\n}\n").remarks == [])
  }
}
