// cairnctl completions
import ArgumentParser
import CairnControl
import CairnPlatform

struct CompletionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Print the completions for a shell.",
    discussion: """
      Stores, entities, properties and IDs are completed with what the running daemon knows. A \
      package installs the scripts; otherwise: source <(cairnctl completions bash).
      """)

  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish
  }

  @Argument(help: "bash, zsh or fish.")
  var shell: Shell

  func run() throws {
    let known: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    Output.line(CairnctlCommand.completionScript(for: known))
  }
}
