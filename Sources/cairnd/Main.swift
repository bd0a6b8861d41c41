// The daemon's command line.
import ArgumentParser
import CairnControl
import CairnDaemon

@main
struct CairnDaemonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cairnd",
    abstract: "Keeps Core Data stores in step.",
    discussion: """
      Runs in the foreground; systemd starts it with cairnd.service. SIGTERM stops it after what \
      runs has finished, a second one at once. SIGHUP takes the configuration on disk over as `cairnctl \
      reload` does, SIGUSR1 writes the state to the log, SIGUSR2 does nothing.

      Exit codes: 0 stopped, 64 wrong command line, 69 another daemon serves the local store, 70 \
      internal fault, 74 disk error, 75 try again later, 77 permissions, 78 configuration.
      """,
    version: CairnVersion.text)

  @Option(name: .long, help: "The configuration file.")
  var config = "/etc/cairn/cairnd.yaml"

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: ArgumentHelp(
      "Override one key, e.g. log.level=debug or replicas.nas.path=/mnt/nas.sqlite.",
      valueName: "key=value"))
  var settings: [String] = []

  @Flag(name: .long, help: "Check the configuration, report all problems and exit.")
  var checkConfig = false

  /// For `cairnctl self-test`, which kills it at the steps that it names.
  @Flag(name: .long, help: .hidden)
  var pauseAtSteps = false

  /// For the same.
  @Flag(name: .long, help: .hidden)
  var listSteps = false

  /// For packages, which install what it prints.
  @Flag(name: .long, help: .hidden)
  var manual = false

  /// For packages: the page about the control protocol.
  @Flag(name: .long, help: .hidden)
  var protocolManual = false

  mutating func run() async throws {
    if listSteps { return print(DaemonProcess.stepNames.joined(separator: "\n")) }
    if manual { return print(try Self.manualPage().text) }
    if protocolManual { return print(DaemonProcess.protocolManual) }
    let daemon = DaemonProcess(
      loader: ConfigurationLoader(path: config, settings: settings), pausesAtSteps: pauseAtSteps)
    let status = checkConfig ? daemon.checkConfiguration() : await daemon.run()
    throw ExitCode(status.rawValue)
  }

  private static func manualPage() throws -> ManualPage {
    try ManualPage(
      section: 8, describedBy: _dumpHelp(),
      rest: [
        .init(
          "Files",
          entries: [
            ("/etc/cairn/cairnd.yaml", "The configuration; each key is explained in it."),
            (
              "/usr/lib/cairn/cairnd.yaml",
              "What a vendor ships; the configuration is laid over it."
            ),
            ("/run/cairnd/control", "The control socket, which cairnctl speaks to."),
          ]),
        .init("See also", text: "cairnctl(1), cairn-varlink(7), systemctl(1), journalctl(1)"),
      ])
  }
}
