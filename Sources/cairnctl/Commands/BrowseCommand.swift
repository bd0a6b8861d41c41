// cairnctl browse
import ArgumentParser
import CairnBrowser
import CairnRecords

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Look through a Core Data store in a web browser, read-only.",
    discussion: """
      Prints the address to open and serves the pages until Ctrl-C: the entities as a diagram, rows with \
      their relationships as links, a field for predicates, the history of each record, and a check of the \
      file. Needs no daemon; opens stores that Apple's frameworks wrote, too.
      The pages can be seen from this machine only, with the key in the address, or through a Unix socket.
      Example: cairnctl browse Library.sqlite
      """)

  @Argument(help: ArgumentHelp("The store's file: SQLite, XML or binary.", valueName: "file"))
  var path: String

  @Option(
    help: ArgumentHelp(
      "The file's model; the one that it keeps inside when left out.",
      valueName: "model"))
  var model: String?

  @OptionGroup var listening: ListenOptions

  func run() throws {
    let address = try listening.address()
    let store = try StoreFile(path: path, model: model).store
    let browser = try StoreBrowser(store, address: address)
    try listening.serve(address) {
      try await browser.run { location in
        Output.line(location)
        Output.note("Serving \(path) read-only; Ctrl-C ends it.")
      }
    }
  }
}
