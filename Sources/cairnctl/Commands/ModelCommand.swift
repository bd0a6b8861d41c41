// cairnctl model: the commands about models and the sources that use them.
import ArgumentParser

struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Look at models; check, compare, draw and convert them; port sources that use one.",
    subcommands: [
      ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self,
      ModelGraphCommand.self, ModelConvertCommand.self, ModelPortCommand.self,
    ])
}
