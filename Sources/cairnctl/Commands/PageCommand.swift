// cairnctl page
import ArgumentParser
import CairnBrowser
import CairnControl

struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Look at the daemon and its stores in a web browser.",
    discussion: """
      Prints the address to open and serves the pages until Ctrl-C: the state of each link, its lag and \
      throughput plotted since this program was started, conflicts, what waits, what is wrong, and the stores \
      themselves, read-only. The daemon is asked over its control socket, for which the status role is \
      enough, and may come and go meanwhile; stores are shown as far as this program may read their files.
      The pages can be seen from this machine only, with the key in the address, or through a Unix socket. \
      cairnd-page.service serves them at /run/cairnd-page/page; from another machine: \
      ssh -L 9466:/run/cairnd-page/page HOST, then open http://localhost:9466/
      Example: cairnctl page
      """)

  @OptionGroup var shared: SharedOptions

  @OptionGroup var listening: ListenOptions

  @Option(
    help: ArgumentHelp(
      "Pages about the present are loaded again after so many seconds; 0: never.",
      valueName: "seconds"))
  var refresh = 10

  func validate() throws {
    guard refresh == 0 || (2...3600).contains(refresh) else {
      throw ValidationError("--refresh is a number of seconds from 2 to 3600, or 0.")
    }
  }

  func run() throws {
    let address = try listening.address()
    var quick = shared
    // A page waits for each answer.
    quick.timeout = shared.timeout ?? 5
    let (options, isJSON) = (quick, shared.json)
    let browser = try DaemonBrowser(address: address, refresh: refresh) { try options.connect() }
    try listening.serve(address) {
      try await browser.run { location in
        Output.line(isJSON ? JSONValue.object(["address": .string(location)]).text : location)
        Output.note("Serving the daemon's pages read-only; Ctrl-C ends it.")
      }
    }
  }
}
