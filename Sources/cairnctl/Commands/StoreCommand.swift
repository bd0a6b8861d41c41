// cairnctl store: the commands about one store.
import ArgumentParser

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Add, remove, describe or migrate a store.",
    subcommands: [
      StoreAddCommand.self, StoreRemoveCommand.self, StoreDescribeCommand.self,
      StoreMigrateCommand.self,
    ])
}
