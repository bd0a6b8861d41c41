// cairnctl restore
import ArgumentParser
import CairnControl

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put a backup in the place of the local store.",
    discussion: """
      The daemon reads and checks all of the backup, rests its links, keeps what is there as another \
      backup, and replaces it in one step; programs that have the store open go on with the restored \
      one. Sync notices that the store went back in time: replicas bring back what they have that is \
      newer. To get rid of newer values, see revert.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp(
      "The backup: the name of its folder, or a path in backup.folder of the configuration.",
      valueName: "backup"))
  var backup: String

  @Flag(name: .long, help: "Only check the backup, and say what would happen.")
  var dryRun = false

  func run() throws {
    let client = try shared.connect()
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let bar = CopyBar(
      client, of: dryRun ? "checking the backup" : "checking the backup and putting it in place",
      isShown: !shared.json && ProgressBar.canBeSeen)
    defer { bar.clear() }
    let reply = try client.last(
      RestoreStore.self, .init(backup: backup, dryRun: dryRun ? true : nil)
    ) { reply in
      if let progress = reply.progress { bar.show(progress) }
    }
    bar.clear()
    if shared.json { return try Output.json(reply) }
    lines(reply).forEach(Output.line)
  }

  private func lines(_ reply: RestoreStore.Reply) -> [String] {
    var lines = [
      "\(dryRun ? "checked" : "restored"): \(TerminalText.oneLine(reply.path))",
      "  \(Self.words(reply.content))" + (reply.migrates ? ", of another model version" : ""),
    ]
    lines.append(
      "  \(dryRun ? "would replace" : "replaced"): "
        + (reply.current.map(Self.words) ?? "a store that cannot be read, or none"))
    if let kept = reply.kept { lines.append("  kept: \(TerminalText.oneLine(kept))") }
    let bringers = reply.bringers.map { bringer in
      switch bringer.behind {
      case 0?: bringer.name
      case let behind?: "\(bringer.name) (lacks \(Readable.count(behind, "transaction")))"
      case nil: "\(bringer.name) (not open now)"
      }
    }
    let source =
      bringers.isEmpty
      ? "there is no replica to bring back what is newer"
      : "what is newer comes back from " + bringers.joined(separator: ", ")
    lines += TerminalText.wrapped(source)
    lines.append(
      dryRun
        ? "nothing was changed; the same without --dry-run does it"
        : bringers.isEmpty
          ? "`cairnctl status` shows how it is" : "`cairnctl wait` tells when it is all back")
    return lines
  }

  private static func words(_ content: RestoreStore.Content) -> String {
    var parts = [Readable.count(content.records, "record"), Readable.bytes(content.bytes)]
    if let last = content.lastTransaction { parts.append("up to transaction \(last)") }
    return parts.joined(separator: ", ")
      + (content.newest.map { " of \(Readable.moment($0))" } ?? "")
  }
}
