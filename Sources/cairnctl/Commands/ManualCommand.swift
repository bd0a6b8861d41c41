// cairnctl manual
import ArgumentParser
import CairnControl

struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print the manual page.",
    discussion: "Read it with: cairnctl manual | man -l -")

  func run() throws {
    Output.line(
      try ManualPage(
        section: 1, describedBy: CairnctlCommand._dumpHelp(),
        rest: [
          .init(
            "Environment",
            entries: [
              ("CAIRN_SOCKET", "The daemon's control socket, where --socket does not name one."),
              ("NO_COLOR", "When set, nothing is coloured on a terminal either."),
            ]),
          .init(
            "Files",
            entries: [
              (SharedOptions.usualSocket, "The daemon's control socket."),
              ("/etc/cairn/cairnd.yaml", "The daemon's configuration."),
            ]),
          .init("See also", text: "cairnd(8), journalctl(1), systemctl(1)"),
        ]
      ).text)
  }
}
