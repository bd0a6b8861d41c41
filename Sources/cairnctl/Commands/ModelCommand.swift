// cairnctl model: the commands about models and the sources that use them.
import ArgumentParser

struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Look at the model; draw it; convert model files; port sources that use one.",
    subcommands: [
      ModelShowCommand.self, ModelGraphCommand.self, ModelConvertCommand.self,
      ModelPortCommand.self,
    ])
}
