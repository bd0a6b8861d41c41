// The operator's command line: one subcommand a file, in `Commands`.
import ArgumentParser
import CairnControl
import CairnPlatform

@main
struct CairnctlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cairnctl",
    abstract: "Looks at and drives a running cairnd, and works on store and model files.",
    discussion: """
      Exit codes: 0 done, 1 the daemon said no, 64 wrong command line, 69 the daemon is not \
      reachable, 75 not yet (a wait timed out).
      """,
    version: CairnVersion.text,
    subcommands: [
      StatusCommand.self, TopCommand.self, StoresCommand.self, StoreCommand.self, SyncCommand.self,
      WaitCommand.self, PlanCommand.self, PauseCommand.self, ResumeCommand.self, VerifyCommand.self,
      ConflictsCommand.self, QuarantineCommand.self, HeldCommand.self, ParkedCommand.self,
      ExplainCommand.self, HistoryCommand.self, RevertCommand.self, ApproveCommand.self,
      RepairCommand.self, PurgeCommand.self,
      BackupCommand.self, RestoreCommand.self, CheckpointCommand.self,
      FetchCommand.self, InsertCommand.self, UpdateCommand.self, DeleteCommand.self,
      ImportCommand.self, ExportCommand.self, ModelCommand.self, InspectCommand.self,
      BrowseCommand.self, PageCommand.self, MigrateCommand.self, SelfTestCommand.self,
      ReloadCommand.self, DrainCommand.self, ConfigCommand.self, LogLevelCommand.self,
      MetricsCommand.self, SupportBundleCommand.self, CompletionsCommand.self, ManualCommand.self,
    ])

  @OptionGroup var shared: SharedOptions

  static func main() {
    StandardStream.fillClosed()
    ProcessConduct.letWritesFail()
    do {
      try CommandWords.check()
      var command = try parseAsRoot()
      try command.run()
    } catch {
      FailureReport.exit(for: error, command: self)
    }
  }
}

/// Looks at the bytes of the command line, which Swift repairs before the parser gets them.
enum CommandWords {
  /// - Throws: `ValidationError` for a word that is not UTF-8: what is stored of it would be another text.
  static func check() throws {
    let words = CommandLine.unsafeArgv
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = words[index], String(validatingCString: word) == nil else { continue }
      throw ValidationError(
        "Word \(index) of the command line is not UTF-8: \(String(cString: word)). `locale` shows what the "
          + "terminal writes; a file goes in with cairnctl import FILE.")
    }
  }
}
