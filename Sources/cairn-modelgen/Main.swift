import ArgumentParser

/// The tool behind the build plugin: Swift classes from model files, and what versions they are.
@main
struct ModelGenerator: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cairn-modelgen",
    abstract: "Generates Swift classes from model files and prints the versions of models.",
    subcommands: [GenerateCommand.self, CompanionCommand.self, HashesCommand.self])
}
