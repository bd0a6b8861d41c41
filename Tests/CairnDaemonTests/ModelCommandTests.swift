// The real `cairnctl model check` and `diff` with files that are no models, and with Apple's.
import CairnPlatform
import Foundation
import TestSupport
import Testing

@Suite struct ModelCommandTests {
  private static let fixtures = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"]
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func cairnctl(_ arguments: [String]) async throws -> Outcome {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    return try await run(program, ["model"] + arguments)
  }

  @Test func whatIsNoModelIsAnErrorThatSaysSo() async throws {
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    let mom = folder.file("Cut.mom")
    let whole = folder.file("Whole.mom")
    #expect(try await cairnctl(["convert", demo, whole]).code == 0)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: mom))
    let text = folder.file("text.mom")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: text))
    let (empty, plain) = (folder.file("empty.xcdatamodeld"), folder.file("plain"))
    for folder in [empty, plain] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let pipe = folder.file("pipe.mom")
    #expect(try await run("/usr/bin/mkfifo", [pipe]).code == 0)
    for (path, reason) in [
      (folder.file("Nowhere.mom"), "There is no such file."), (plain, "no model versions"),
      (mom, "property list"), (text, "no XML"), (empty, "no model versions"),
      (pipe, "is a device, a pipe or a socket"),
    ] {
      let check = try await cairnctl(["check", path])
      let said = (check.output + check.errors).replacingOccurrences(of: "\n  ", with: " ")
      #expect(check.code == 1 && said.contains(reason), "\(path): \(said)")
      for arguments in [["diff", path, demo], ["diff", demo, path]] {
        let diff = try await cairnctl(arguments)
        #expect(diff.code == 1 && diff.output.isEmpty, "\(arguments)")
        #expect(diff.errors.hasPrefix("cairnctl: "), "\(arguments): \(diff.errors)")
      }
    }
    #expect(try await cairnctl(["check", whole]).output.contains("nothing is wrong"))
  }

  @Test(.enabled(if: fixtures != nil, "CAIRN_APPLE_FIXTURES names no folder"))
  func modelsOfApplesAreInOrderAndComparedWithTheirMappingModels() async throws {
    let fixtures = try #require(Self.fixtures)
    for name in ["Moody", "ReviewJournal", "SampleModel", "SampleModel3", "ScoutModel"] {
      let check = try await cairnctl(["check", "\(fixtures)/models/\(name).xcdatamodeld"])
      #expect(check.code == 0, "\(name): \(check.output)")
    }
    // As in a project: the mapping models beside the package.
    for part in ["models/Moody.xcdatamodeld", "mapping-models/Moody 3-Moody 4.xcmappingmodel"] {
      let name = URL(fileURLWithPath: part).lastPathComponent
      try FileManager.default.copyItem(
        atPath: "\(fixtures)/\(part)", toPath: folder.file(name))
    }
    let package = folder.file("Moody.xcdatamodeld")
    let diff = try await cairnctl([
      "diff", package, package, "--old-version", "Moody 3", "--new-version", "Moody 4",
    ])
    let said = diff.output.replacingOccurrences(of: "\n", with: " ")
    #expect(diff.code == 0 && said.contains("stores follow by the mapping model"), "\(diff.output)")
    let store = try await cairnctl([
      "diff", "\(fixtures)/apple-stores/Moody-1.sqlite", package, "--new-version", "Moody 2",
    ])
    #expect(store.output.contains("~ remoteID  was remoteIdentifier"), "\(store.output)")
    #expect(store.output.contains("stores can follow by lightweight migration"))
  }
}
