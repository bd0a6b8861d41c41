import ArgumentParser
import CairnModel
import Foundation

/// Writes the classes of a model's entities into one Swift file.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Writes the Swift classes of a model's current version into one file.")

  @Argument(help: "A .xcdatamodeld, .xcdatamodel, .momd or .mom.")
  var model: String

  @Option(help: "The file to write.")
  var output: String

  @Flag(help: "Generate classes for all entities, whatever their code generation setting.")
  var all = false

  func run() throws {
    let url = URL(fileURLWithPath: model)
    let model = try ManagedObjectModel.load(contentsOf: url)
    let problems = ModelValidation.problems(of: model)
    guard problems.isEmpty else {
      for problem in problems {
        FileHandle.standardError.write(Data("\(url.path): error: \(problem)\n".utf8))
      }
      throw ExitCode.failure
    }
    let text = ClassGenerator(
      model: model, source: url.lastPathComponent, generatesAll: all
    ).text()
    try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
  }
}
