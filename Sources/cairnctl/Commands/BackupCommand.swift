// cairnctl backup
import ArgumentParser
import CairnControl

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store while it is in use, and check the copy.",
    discussion: """
      The copy stands in a new folder below backup.folder of the configuration, on the daemon's \
      machine; it holds history and external data, and is a store like any other. To go \
      back to it: cairnctl restore. For the file of a replica, stop cairnd, move the file and the files \
      beside it away, copy the folder's content in their place, start cairnd.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One store; the local one when left out.", completion: .stores)
  var name: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The name of the new folder; the store's name and the time when left out.",
      valueName: "label"))
  var label: String?

  func run() throws {
    let client = try shared.connect()
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let bar = CopyBar(
      client, of: "copying the store and checking the copy",
      isShown: !shared.json && ProgressBar.canBeSeen)
    defer { bar.clear() }
    let reply = try client.last(BackupStore.self, .init(name: name, label: label)) { reply in
      if let progress = reply.progress { bar.show(progress) }
    }
    bar.clear()
    if shared.json { return try Output.json(reply) }
    let transaction = reply.lastTransaction.map { ", up to transaction \($0)" } ?? ""
    Output.line("\(TerminalText.oneLine(reply.path))")
    Output.line(
      "checked: \(Readable.count(reply.records, "record")), "
        + "\(Readable.bytes(reply.bytes))\(transaction)")
  }
}
