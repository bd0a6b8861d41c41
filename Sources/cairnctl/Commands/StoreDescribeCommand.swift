// cairnctl store describe
import ArgumentParser
import CairnControl

struct StoreDescribeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe", abstract: "Show everything about one store.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The store's name.", completion: .stores)
  var name: String

  func run() throws {
    let client = try shared.connect()
    let stores = try client.call(ListStores.self, NoValues()).stores
    guard let store = stores.first(where: { $0.name == name }) else {
      throw ControlError.storeNotFound(
        name: name, nearest: NearestName.find(name, among: stores.map(\.name)))
    }
    if shared.json { return try Output.json(store) }
    let status = try client.call(GetStatus.self, NoValues()).status
    let replica = status.replicas.first { $0.name == name }
    var rows = [
      ("name", store.name), ("role", store.role.rawValue), ("type", store.type),
      ("location", store.location), ("state", store.state), ("named by", store.origin.rawValue),
    ]
    if let direction = store.direction { rows.append(("direction", direction.rawValue)) }
    if let identifier = store.identifier { rows.append(("identifier", identifier)) }
    if let replica {
      rows.append(("passes", String(replica.passes)))
      if let last = replica.lastPass { rows.append(("last pass", Readable.moment(last))) }
      if let lag = replica.lagTransactions { rows.append(("lag", "\(lag) transactions")) }
      if let problem = replica.problem {
        rows.append(("problem", "\(problem.message) (\(problem.code))"))
      }
    }
    for (key, value) in rows {
      let label = key + String(repeating: " ", count: 12 - key.count)
      Output.line(label + TerminalText.oneLine(value))
    }
  }
}
