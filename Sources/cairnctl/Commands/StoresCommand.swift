// cairnctl stores
import ArgumentParser
import CairnControl

struct StoresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stores", abstract: "List the stores and their settings.")

  @OptionGroup var shared: SharedOptions

  func run() throws {
    let stores = try shared.connect().call(ListStores.self, NoValues()).stores
    if shared.json { return try Output.json(stores) }
    var table = TextTable(["NAME", "ROLE", "TYPE", "DIRECTION", "STATE", "LOCATION"])
    for store in stores {
      table.add([
        .init(store.name), .init(store.role.rawValue), .init(store.type),
        .init(store.direction?.rawValue ?? "-"), .init(store.stateWords), .init(store.location),
      ])
    }
    for line in table.lines() { Output.line(line) }
  }
}
