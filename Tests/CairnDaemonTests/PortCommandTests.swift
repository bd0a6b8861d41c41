// cairnctl model port: the real program on files. It needs no daemon.
import Foundation
import TestSupport
import Testing

@Suite struct PortCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: folder.file(name), atomically: true, encoding: .utf8)
  }
  private func read(_ name: String) throws -> String {
    try String(contentsOfFile: folder.file(name), encoding: .utf8)
  }
  private func port(_ arguments: String...) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, ["model", "port"] + arguments)
  }

  @Test func withoutWriteNothingChangesAndTheDifferenceIsShown() async throws {
    try write("import CoreData\n@objc(Item)\nclass Item: NSManagedObject {}\n", to: "Item.swift")
    let outcome = try await port(folder.path)
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("\n-@objc(Item)\n"), "\(outcome.output)")
    #expect(try read("Item.swift").contains("@objc(Item)"))
  }

  @Test func writeEditsInPlaceAndASecondTimeChangesNothing() async throws {
    try write("let k = #keyPath(Item.name)\n", to: "A.swift")
    try write("let b = 1\n", to: "B.swift")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: folder.file("A.swift"))
    let first = try await port("--write", folder.path)
    #expect(first.code == 0)
    #expect(first.output.hasSuffix("A.swift: 1 edit\n"), "\(first.output)")
    #expect(try read("A.swift") == "let k = \"name\"\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("A.swift"))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    let second = try await port("--write", folder.path)
    #expect(second.code == 0 && second.output == "" && second.errors == "")
  }

  @Test func aPackageThatThePortedSourcesNeedIsNamed() async throws {
    try write("import Combine\nvar a: Set<AnyCancellable> = []\n", to: "A.swift")
    let outcome = try await port("--write", folder.path)
    #expect(outcome.code == 0 && (outcome.output + outcome.errors).contains("package OpenCombine"))
    #expect(try read("A.swift").contains("#else\nimport OpenCombineShim\n#endif"))
    #expect(try await port(folder.path).errors == "", "asked for once")
  }

  @Test func whatIsLeftAndWhatCannotBeReadIsListedWithTheCode1() async throws {
    try write("import SwiftUI\n@objc class A: NSObject { var c: Color? }\n", to: "A.swift")
    try write("@objc class B {}\nlet text = \"no end\n", to: "B.swift")
    let outcome = try await port("--write", folder.path)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("A.swift:1:8: there is no SwiftUI on Linux"))
    #expect(outcome.errors.contains("B.swift:2:12: this string has no end"))
    #expect(try read("A.swift") == "import SwiftUI\nclass A: NSObject { var c: Color? }\n")
    #expect(try read("B.swift").hasPrefix("@objc"), "a file that cannot be read is left alone")
    #expect(try await port("/no/such/folder").code == 1)
  }
}
