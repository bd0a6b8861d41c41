import ArgumentParser
import CairnModel
import CairnModelFiles
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

  @Option(help: "The module that generated code imports.")
  var `import` = "Cairn"

  func run() throws {
    let url = URL(fileURLWithPath: model)
    let model = try ManagedObjectModel.read(contentsOf: url)
    // Slot numbers are those of the layouts that contexts use.
    do {
      try model.prepareForUse()
    } catch let error as ModelError {
      throw refuse(url, error.problems.map(\.description))
    }
    let generator = ClassGenerator(
      model: model, source: url.lastPathComponent, module: `import`, generatesAll: all)
    let problems = generator.problems()
    guard problems.isEmpty else { throw refuse(url, problems) }
    try Data(generator.text().utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
  }

  /// Reports problems in the form that builds show as errors of the file.
  private func refuse(_ url: URL, _ problems: [String]) -> ExitCode {
    for problem in problems {
      FileHandle.standardError.write(Data("\(url.path): error: \(problem)\n".utf8))
    }
    return .failure
  }
}
