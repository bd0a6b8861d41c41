// cairnctl support-bundle
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct SupportBundleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "support-bundle",
    abstract: "Write what helps to find a fault into one tar file.",
    discussion: """
      Status, configuration, metrics, the last entries of the log, versions, and what stores and model \
      are like. No values of records are in it; names of stores, entities, properties and paths are. \
      Look at it before you hand it on: tar -xOf FILE.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "The new file; cairn-support-TIME.tar in this folder when left out.",
    completion: .file(extensions: ["tar"]))
  var file: String?

  private struct Report: Encodable {
    let file: String
    let files: [String]
  }

  func run() throws {
    let stamp = Date().formatted(.iso8601).filter { !"-:".contains($0) }
    let path = file ?? "cairn-support-\(stamp).tar"
    // Before the daemon is asked; the writing below looks once more.
    if FileManager.default.fileExists(atPath: path) { throw Self.isThere(path) }
    let reply = try shared.connect(for: "gathering the bundle").call(
      GetSupportBundle.self, NoValues())
    let folder = "cairn-support-\(stamp)"
    let own = GetSupportBundle.File(name: "cairnctl.txt", text: "cairnctl \(CairnVersion.text)\n")
    var archive = TapeArchive()
    let files = reply.files + [own]
    for file in files {
      // A name of the daemon's must not lead out of the folder.
      let name = file.name.replacingOccurrences(of: "/", with: "_")
      archive.add(
        "\(folder)/\(name)", Array(file.text.utf8), time: Int(Date().timeIntervalSince1970))
    }
    archive.end()
    do {
      let isNew = try AtomicFileWrite.replace(path: path, with: archive.bytes) { $0 == nil }
      guard isNew else { throw Self.isThere(path) }
    } catch let error as PlatformError {
      throw CommandFailure(
        message: "\(path) cannot be written: \(error.code.explanation)",
        hint: "name another file: cairnctl support-bundle FILE")
    }
    if shared.json { return try Output.json(Report(file: path, files: files.map(\.name))) }
    Output.line(TerminalText.oneLine(path))
    for file in files {
      Output.line("  \(TerminalText.oneLine(file.name)), \(Readable.bytes(file.text.utf8.count))")
    }
    Output.line("no values of records are in it; look at it before you hand it on")
  }

  private static func isThere(_ path: String) -> CommandFailure {
    CommandFailure(
      message: "\(path) is there already; nothing was written",
      hint: "name another file: cairnctl support-bundle FILE")
  }
}
