// cairnctl metrics
import ArgumentParser
import CairnControl
import CairnPlatform

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Show the daemon's figures in Prometheus' text format.",
    discussion: """
      The daemon serves the same over HTTP where its configuration has a section "metrics". With \
      --textfile, a timer can hand them to node_exporter instead; a file that is older than the \
      timer's interval says that the daemon did not answer.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write them to this file, all at once, instead of showing them.", valueName: "path"),
    completion: .file(extensions: ["prom"]))
  var textfile: String?

  func run() throws {
    let reply = try shared.connect().call(GetMetrics.self, NoValues())
    if let textfile { return try write(reply.text, to: textfile) }
    if shared.json { return try Output.json(reply) }
    for line in reply.text.split(separator: "\n") { Output.line(String(line)) }
  }

  /// A collector that reads the file meanwhile sees the old one or the new one.
  private func write(_ text: String, to path: String) throws {
    // A device or a pipe would be gone, with a file in its place.
    if let facts = try? FileFacts(path: path), !facts.isRegularFile {
      throw CommandFailure(
        message: "\(path) is \(facts.isFolder ? "a folder" : "a device, a pipe or a socket")",
        hint: "name a file, which may be a new one; without --textfile the figures are shown")
    }
    do {
      // Another user's collector reads it.
      try AtomicFileWrite.replace(path: path, with: Array(text.utf8), mode: 0o644)
    } catch let error as PlatformError {
      throw CommandFailure(
        message: "\(path.isEmpty ? "''" : path) cannot be written: \(error.code.explanation)",
        hint: "the folder must be there and writable; node_exporter names it with "
          + "--collector.textfile.directory")
    }
  }
}
