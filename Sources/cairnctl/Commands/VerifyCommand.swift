// cairnctl verify
import ArgumentParser
import CairnControl

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the stores and compare the replicas.",
    discussion: "The exit code is 1 when any store differs or is damaged.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One store; all of them when left out.")
  var name: String?

  func run() throws {
    let client = try shared.connect()
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let bar = ProgressBar(isShown: !shared.json && ProgressBar.canBeSeen)
    var summary: VerifyStores.Summary?
    try client.stream(VerifyStores.self, VerifyStores.Parameters(name: name)) { reply in
      if shared.json { try Output.json(reply) }
      if let progress = reply.progress {
        let fraction = progress.total.map { $0 == 0 ? 1 : Double(progress.done) / Double($0) }
        bar.show(fraction, "\(progress.store) \(progress.entity)")
      }
      if let difference = reply.difference, !shared.json {
        bar.clear()
        Output.line(Self.line(difference))
      }
      if let result = reply.summary { summary = result }
    }
    bar.clear()
    guard let summary else {
      throw ControlClientError.misunderstood("the verification ended without a summary")
    }
    if !shared.json { Self.table(summary).lines().forEach(Output.line) }
    if !summary.isEqual {
      throw CommandFailure(
        message: "the stores are not equal", hint: "`cairnctl sync --wait`, then verify again")
    }
  }

  private static func line(_ difference: VerifyStores.Difference) -> String {
    let place = [difference.entity, difference.record, difference.property].compactMap { $0 }
      .joined(separator: " ")
    return TerminalText.oneLine(
      "\(difference.store): \(difference.kind.rawValue) \(place): \(difference.detail)")
  }

  private static func table(_ summary: VerifyStores.Summary) -> TextTable {
    var table = TextTable(["STORE", "RECORDS", "DIFFERENCES", "DIGEST", "RESULT"])
    for store in summary.stores {
      let isGood = store.differences == 0 && store.problem == nil
      table.add([
        .init(store.store), .init(String(store.records), isNumber: true),
        .init(String(store.differences), isNumber: true),
        .init(store.digest.map { String($0.prefix(16)) } ?? "-"),
        .init(
          store.problem.map { "\($0.message) (\($0.code))" } ?? (isGood ? "equal" : "differs"),
          tone: isGood ? .good : .bad),
      ])
    }
    return table
  }
}
