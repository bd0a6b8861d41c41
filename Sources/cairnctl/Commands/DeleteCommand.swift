// cairnctl delete
import ArgumentParser
import CairnControl

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records, all or none.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Argument(help: "Record IDs, as fetch shows them.")
  var ids: [String]

  func run() throws {
    let deletes = ids.map { SaveRecords.Delete(entity: entity, id: $0) }
    let reply = try shared.connect().call(
      SaveRecords.self, SaveRecords.Parameters(deletes: deletes))
    if shared.json { return try Output.json(reply) }
    Output.line("deleted \(Readable.count(reply.deleted, "record"))")
  }
}
