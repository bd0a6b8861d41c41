import ArgumentParser
import CairnSwiftSource
import Foundation

/// Writes the file that completes a target's own sources: what Linux lacks behind `@NSManaged`, and
/// names that Foundation has too.
struct CompanionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "companion",
    abstract: "Writes what sources with @NSManaged properties need on Linux.")

  @Argument(help: "The Swift files of the target.")
  var sources: [String] = []

  @Option(help: "The name of the target's module.")
  var module: String

  @Option(help: "The file to write.")
  var output: String

  @Option(help: "The module that generated code imports: Cairn or CoreData.")
  var `import` = "CoreData"

  func run() throws {
    var problems: [SourceProblem] = []
    var files: [FileDeclarations] = []
    var namesCompiledModels = false
    for path in sources.sorted() {
      do {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let ends = [Data("momd\"".utf8), Data("mom\"".utf8), Data("cdm\"".utf8)]
        if ends.contains(where: { bytes.range(of: $0) != nil }) { namesCompiledModels = true }
        files.append(try DeclarationReader.read(SwiftText(path: path, bytes: Array(bytes))))
      } catch let problem as SourceProblem {
        problems.append(problem)
      }
    }
    let generator = CompanionText(
      module: SourceModule(name: module, files: files), importedModule: `import`,
      namesCompiledModels: namesCompiledModels)
    let text = generator.text(&problems)
    // The compiler tells of them, with file and line: what a tool prints while it generates, builds
    // may swallow.
    let errors = problems.map { problem in
      "#sourceLocation(file: \(quoted(problem.path)), line: \(problem.line))\n"
        + "#error(\(quoted(problem.reason)))\n#sourceLocation()\n"
    }
    try Data((text + errors.joined()).utf8).write(
      to: URL(fileURLWithPath: output), options: .atomic)
  }
}
