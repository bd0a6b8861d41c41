// cairnctl model: the commands about models.
import ArgumentParser

struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model", abstract: "Look at the model.", subcommands: [ModelShowCommand.self])
}
