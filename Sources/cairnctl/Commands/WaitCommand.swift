// cairnctl wait
import ArgumentParser
import CairnControl
import Foundation

struct WaitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Return when everything committed before now has arrived.",
    discussion: """
      With --after, what a token stands for is waited for instead: that of a save (insert, update and delete \
      print it with --json) or of cairnctl history. --timeout says how long (60 seconds when left out; 0 looks \
      once); then the exit code is 75. It is 1 when waiting \
      longer does not help: records wait for a person, or stay where they are because a link goes in one \
      direction only.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("One replica, or all; may be given for several.", valueName: "name"),
    completion: .replicasOrAll)
  var replicas: [String] = []

  @Option(
    name: .customLong("after"),
    help: ArgumentHelp(
      "A token of the local store's history, or of a replica's.", valueName: "token"))
  var token: String?

  func run() throws {
    let names = replicas.isEmpty || replicas.contains("all") ? nil : replicas
    let client = try shared.connect(
      for: "waiting for \(names?.joined(separator: ", ") ?? "all replicas")")
    let reply = try Self.wait(for: names, after: token, by: client, shared.timeout ?? 60)
    if shared.json { return try Output.json(reply) }
    Output.line(
      reply.reached.isEmpty
        ? "no replica to wait for" : "in step: \(reply.reached.joined(separator: ", "))")
  }

  /// Waits for some replicas, also while the daemon starts; nil for all of them.
  ///
  /// - Parameter patience: Seconds.
  static func wait(
    for names: [String]?, after token: String? = nil, by client: ControlClient, _ patience: Double
  ) throws -> WaitForSync.Reply {
    let end = ContinuousClock.now + .seconds(patience)
    let unique = names.map { Set($0).sorted() }
    let one = unique?.count == 1 ? unique?.first : nil
    let several = one == nil ? unique : nil
    var left = patience
    while true {
      do {
        return try client.call(
          WaitForSync.self, .init(name: one, names: several, timeout: left, token: token),
          timeout: .seconds(left + 2))
      } catch let error as ControlError {
        guard case .notReady("starting", _) = error, ContinuousClock.now < end else { throw error }
      }
      Thread.sleep(forTimeInterval: 0.2)
      left = max(0, (end - ContinuousClock.now) / .seconds(1))
    }
  }
}
