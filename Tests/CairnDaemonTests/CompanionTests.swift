// What the build plugin's tool writes beside the sources of a target, by the real program.
import CairnTesting
import Foundation
import TestSupport
import Testing

/// The DocC page PortingSources: what the companion file has.
@Suite struct CompanionTests {
  private func companion(_ sources: [String: String]) async throws -> String {
    let folder = try TemporaryFolder()
    let generator = try #require(Project.program("cairn-modelgen"), "build the products first")
    for (name, text) in sources {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    }
    let output = folder.file("Companion.txt")
    let outcome = try await run(
      generator,
      ["companion", "--module", "App", "--output", output] + sources.keys.map(folder.file))
    #expect(outcome.code == 0, "\(outcome.errors)")
    return try String(contentsOfFile: output, encoding: .utf8)
      .replacingOccurrences(of: folder.file(""), with: "")
  }

  private let mark = "#if canImport(ObjectiveC)\n@objc\n#endif\n"

  @Test func markedPropertiesAreRegisteredAlsoInExtensionsOfGeneratedClasses() async throws {
    let text = try await companion([
      "a.swift": """
      extension Item {
      \(mark)var initial: String { "a" }
      var other: String { "b" }
      \(mark)private var hidden: String { "c" }
      \(mark)func greeting() -> String { "d" }
      }
      """
    ])
    #expect(text.contains(#"ClassProperties.add("initial", \Item.initial)"#))
    #expect(text.contains(#"ClassProperties.add("greeting", method:"#))
    #expect(!text.contains("other") && !text.contains("hidden"))
  }

  @Test func lazyAndObservedPropertiesAreRegisteredThoseOfActorsAreNot() async throws {
    let text = try await companion([
      "a.swift": """
      import CoreData
      class Item: NSManagedObject {
      \(mark)lazy var title = "a"
      \(mark)var count = 1 { didSet { count = max(count, 0) } }
      \(mark)private(set) var read = 2
      \(mark)@MainActor var shown: String { "b" }
      \(mark)@MainActor nonisolated var free: String { "c" }
      \(mark)static var shared = 3
      }
      @MainActor extension Item {
      \(mark)var color: String { "d" }
      }
      """
    ])
    for name in ["title", "count", "read", "free"] {
      #expect(text.contains("ClassProperties.add(\"\(name)\", \\Item.\(name))"), "\(name): \(text)")
    }
    for name in ["shown", "shared", "color"] { #expect(!text.contains(name)) }
  }

  @Test func whatAClassOverridesIsToldWithIt() async throws {
    let text = try await companion([
      "a.swift": """
      import CoreData
      class Item: NSManagedObject {
        @NSManaged var name: String
        override func willSave() { func didSave() {} }
        #if os(Linux)
        override final class var keyAccessors: [String: KeyAccessor] { [:] }
        #endif
        public override class func entity() -> NSEntityDescription { super.entity() }
        override public func validateValue(_ value: inout Any?, forKey key: String) throws {}
        func didChangeValue(for other: Int) {}
        class Inner { override func awakeFromFetch() {} }
      }
      @MainActor @objc(Other) final class Plain: NSManagedObject {}
      @Macro class Macro: NSManagedObject {}
      class Filled: NSManagedObject {
        #members("a")
      }
      """
    ])
    #expect(
      text.contains(
        "registerClass(Item.self, named: \"Item\", overriding: [\"entity\", \"keyAccessors\", "
          + "\"validateValue\", \"willSave\"])"), "\(text)")
    #expect(text.contains("registerClass(Plain.self, named: \"Plain\", overriding: [])"))
    // Nobody sees here what a macro adds.
    #expect(text.contains("registerClass(Macro.self, named: \"Macro\")"))
    #expect(text.contains("registerClass(Filled.self, named: \"Filled\")"))
  }

  @Test func whatCannotBeReadIsAnErrorOfItsLine() async throws {
    let text = try await companion(["bad.swift": "let a = 1\nlet b = \"no end\n"])
    #expect(text.contains("bad.swift\", line: 2)\n#error(\"this string has no end\")"))
  }

  @Test func privateTypesOfTheSameNameAreLeftAlone() async throws {
    let text = try await companion([
      "a.swift": "import CoreData\nclass Item: NSManagedObject { @NSManaged var name: String }\n",
      "b.swift": "private class Item { var secret = 1 }\nextension Item { var more: Int { 2 } }\n",
    ])
    #expect(text.contains(#"names[\Item.name]"#))
    #expect(!text.contains("secret") && !text.contains("more"))
  }

  @Test func importsArePublicWhereTheyAreInternalByDefault() async throws {
    let text = try await companion(["a.swift": "let a = 1\n"])
    #expect(
      text.contains(
        "#if hasFeature(InternalImportsByDefault)\npublic import CoreData\n#else\nimport CoreData"))
  }
}
