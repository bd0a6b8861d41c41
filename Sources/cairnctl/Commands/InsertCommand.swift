// cairnctl insert
import ArgumentParser
import CairnControl

struct InsertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "insert", abstract: "Insert one record.",
    discussion: "Relationships take record IDs, several with commas between.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Argument(
    help: ArgumentHelp("Its values.", valueName: "key=value"), completion: .assignments)
  var values: [String] = []

  func validate() throws { try TypedValues.check(values) }

  func run() throws {
    let client = try shared.connect()
    let model = try client.call(GetModel.self, NoValues()).model
    let typed = try TypedValues(entity: entity, model: model).values(values)
    let reply = try client.call(
      SaveRecords.self,
      SaveRecords.Parameters(inserts: [SaveRecords.Insert(entity: entity, values: typed)]))
    if shared.json { return try Output.json(reply) }
    reply.inserted.forEach(Output.line)
  }
}
