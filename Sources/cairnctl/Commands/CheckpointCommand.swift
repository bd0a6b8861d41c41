// cairnctl checkpoint
import ArgumentParser
import CairnControl

struct CheckpointCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Move a store's write-ahead log into its file, and empty it.",
    discussion: """
      The daemon does this by itself as the log grows. By hand it is of use before a file is copied with \
      other means, or to see which program keeps the log from being emptied. Exit code 75: a reader \
      keeps a part of it.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One store; the local one when left out.", completion: .stores)
  var name: String?

  func run() throws {
    let reply = try shared.connect(for: "moving the log into the file").call(
      CheckpointStore.self, .init(name: name))
    if shared.json { try Output.json(reply) } else { lines(reply).forEach(Output.line) }
    if reply.after.bytes > 0 { throw ExitCode(75) }
  }

  private func lines(_ reply: CheckpointStore.Reply) -> [String] {
    let name = TerminalText.oneLine(reply.store)
    let before = Self.words(reply.before)
    guard reply.after.bytes > 0 else {
      return [
        reply.before.bytes == 0
          ? "\(name): the log was empty" : "\(name): \(before) before; the log is empty now"
      ]
    }
    let readers = reply.readers.map { "\($0.program ?? "a program") (process \($0.process))" }
    return TerminalText.wrapped(
      "\(name): \(before) before, \(Self.words(reply.after)) after; kept by "
        + (readers.isEmpty ? "a reader on another machine" : readers.joined(separator: ", "))
    ) + ["the rest is moved once it has read to its end, by itself"]
  }

  private static func words(_ log: CheckpointStore.LogState) -> String {
    "\(Readable.count(log.frames, "page")) to move, \(Readable.bytes(log.bytes))"
  }
}
