// The symbols behind @NSManaged declarations, against those that the compiler asked for.

import Foundation
import Testing

@testable import CairnSwiftSource

@Suite struct AccessorSymbolTests {
  static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  static func read(_ text: String, file: String = "defs.swift") throws -> FileDeclarations {
    try DeclarationReader.read(SwiftText(path: "/somewhere/" + file, bytes: Array(text.utf8)))
  }

  static func symbols(of module: SourceModule) -> [String] {
    module.files.flatMap { file in
      file.types.flatMap { type -> [String] in
        guard
          let symbols = AccessorSymbols(type, in: module, imports: file.imports.map(\.module))
        else { return [] }
        return type.managed.flatMap { declaration in
          symbols.accessors(of: declaration).flatMap { [$0.getter, $0.setter] }
            + symbols.methods(of: declaration)
        }
      }
    }
  }

  @Test func symbolsAreThoseOfTheCompiler() throws {
    let text = try String(
      contentsOf: Self.fixtures.appendingPathComponent("Accessors.txt"), encoding: .utf8)
    let wanted = try String(
      contentsOf: Self.fixtures.appendingPathComponent("Accessors.symbols"), encoding: .utf8)
    let module = SourceModule(name: "Sample", files: [try Self.read(text)])
    let found = Set(Self.symbols(of: module))
    let all = wanted.split(separator: "\n").map(String.init)
    #expect(all.count > 180, "the fixture is not complete")
    let missing = Set(all).subtracting(found).sorted()
    #expect(missing == [])
    let invented = found.subtracting(all).sorted()
    #expect(invented == [])
  }

  @Test func typesOfOtherModulesAreTriedAsEverything() throws {
    let module = SourceModule(
      name: "App",
      files: [
        try Self.read(
          """
          import CoreData
          import Shapes
          class Item: NSManagedObject { @NSManaged var color: Color? }
          """)
      ])
    let found = Self.symbols(of: module)
    #expect(found.contains("$s3App4ItemC5color6Shapes5ColorOSgvg"))
    #expect(found.contains("$s3App4ItemC5color6Shapes5ColorCSgvs"))
    #expect(found.contains("$s3App4ItemC5color6Shapes5ColorVSgvg"))
  }

  @Test func classesGeneratedFromAModelAreOfTheModuleItself() throws {
    let module = SourceModule(
      name: "App",
      files: [
        try Self.read(
          "import CoreData\nclass Item: NSManagedObject { @NSManaged var color: Color? }")
      ])
    #expect(Self.symbols(of: module).contains("$s3App4ItemC5colorAA5ColorCSgvg"))
  }

  @Test(arguments: [
    ("übung", "bung_zra"), ("größe", "gre_GkaIi"), ("名前", "ldrIFb"),
  ])
  func namesBeyondASCIIAreSpelledAsTheCompilerDoes(_ name: String, _ code: String) {
    #expect(Punycode.encode(name) == code)
  }
}
