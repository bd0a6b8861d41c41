// cairnctl update
import ArgumentParser
import CairnControl

struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change values of one record.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Argument(help: "The record ID, as fetch shows it.")
  var id: String

  @Argument(
    help: ArgumentHelp("The new values; key= alone means no value.", valueName: "key=value"),
    completion: .assignments)
  var values: [String]

  func validate() throws { try TypedValues.check(values) }

  func run() throws {
    let client = try shared.connect()
    let model = try client.call(GetModel.self, NoValues()).model
    let typed = try TypedValues(entity: entity, model: model).values(values)
    let reply = try client.call(
      SaveRecords.self,
      SaveRecords.Parameters(
        updates: [SaveRecords.Update(entity: entity, id: id, values: typed)]))
    if shared.json { return try Output.json(reply) }
    Output.line("updated \(Readable.count(reply.updated, "record"))")
  }
}
