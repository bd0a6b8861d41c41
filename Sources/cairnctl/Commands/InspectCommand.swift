// cairnctl inspect
import ArgumentParser
import Cairn
import CairnControl
import Foundation

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Look at a Core Data store file: entities, versions, history, integrity.",
    discussion: """
      Needs no daemon and no model file, and changes nothing: neither the store nor any file \
      beside it. What is still in the write-ahead log is read too. The exit code is 1 when the \
      store is damaged or is none.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp("The store's file.", valueName: "file"), completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp(
      "Check the rows by this model instead of the one that the store keeps inside.",
      valueName: "model"),
    completion: .file())
  var model: String?

  @Flag(inversion: .prefixedNo, help: "Read everything and check it.")
  var check = true

  func run() throws {
    let store = try InspectedFile.store(path, model: model, checks: check, timeout: shared.timeout)
    let report = InspectionReport(store, path: path, wasChecked: check)
    if shared.json {
      try Output.json(report)
    } else {
      report.lines().forEach(Output.line)
    }
    let damage = store.damage.count
    if damage > 0 {
      throw CommandFailure(
        message: "\(path) is damaged: \(Readable.count(damage, "finding"))",
        hint: "restore a backup, or copy what can be read into a new store")
    }
  }
}
