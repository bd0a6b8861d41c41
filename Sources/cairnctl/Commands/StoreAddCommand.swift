// cairnctl store add
import ArgumentParser
import CairnControl
import Foundation

struct StoreAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a replica while the daemon runs.",
    discussion: """
      Returns at once; opening and the first sync go on and show in `status`.

      A PostgreSQL store is named by a connection URL or by libpq's settings: cairnctl store add hub \
      postgresql 'service=inventory'. The password comes from a systemd credential of the daemon, from \
      .pgpass or from peer authentication, never from here.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "A short name.")
  var name: String

  @Argument(help: "The kind of store: sqlite or postgresql.")
  var type: String

  @Argument(
    help: "Where it is: the path of the file, or how to reach the database.", completion: .file())
  var location: String

  @Option(name: .long, help: "Which way changes go: both, push or pull.")
  var direction = "both"

  @Option(name: .long, help: "The schema of a PostgreSQL store (cairn).")
  var schema: String?

  @Option(
    name: .long, help: "The daemon's systemd credential with the password for PostgreSQL.")
  var credential: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The entities that it has, with their subentities, divided by commas (all).",
      valueName: "names"))
  var entities: String?

  @Flag(
    inversion: .prefixedNo,
    help: "Whether a store of an older version of the model is brought to this one.")
  var migrate = true

  @Flag(name: .long, help: "A start of the daemon waits for it.")
  var required = false

  @Flag(name: .long, help: "Wait until the first sync is complete.")
  var wait = false

  func validate() throws {
    guard ReplicaStatus.Direction(rawValue: direction) != nil else {
      throw ValidationError("--direction is both, push or pull.")
    }
  }

  func run() throws {
    let client = try shared.connect()
    let path = type == "sqlite" ? Self.absolute(location) : location
    let reply = try client.call(
      AddStore.self,
      AddStore.Parameters(
        name: name, type: type, location: path,
        direction: ReplicaStatus.Direction(rawValue: direction), schema: schema,
        credential: credential,
        entities: entities?.split(separator: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }, migrate: migrate ? nil : false, required: required ? true : nil))
    if wait { try follow(client) }
    if shared.json { return try Output.json(reply) }
    Output.line(
      reply.added
        ? "added \(name): \(reply.store.location)"
        : "\(name) is there already: \(reply.store.location)")
  }

  /// The daemon has another working folder than the caller.
  static func absolute(_ path: String) -> String {
    path.hasPrefix("/")
      ? path : URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private func follow(_ client: ControlClient) throws {
    let bar = ProgressBar()
    defer { bar.clear() }
    let deadline = ContinuousClock.now + .seconds(shared.timeout ?? 86400)
    while true {
      let status = try client.call(GetStatus.self, NoValues()).status
      guard let replica = status.replicas.first(where: { $0.name == name }) else {
        throw ControlError.storeNotFound(name: name)
      }
      switch replica.state {
      case .inSync, .paused: return
      case .stopped:
        throw ControlError.storeUnavailable(
          name: name, code: replica.problem?.code ?? "stopped",
          reason: replica.problem?.message ?? "its link is stopped")
      case .behind:
        bar.clear()
        if try isInStep(client, within: deadline - .now) { return }
      case .opening, .migrating, .unavailable, .firstSync: break
      }
      let progress = replica.progress
      let fraction = progress?.total.map { $0 == 0 ? 1 : Double(progress?.done ?? 0) / Double($0) }
      bar.show(fraction, "\(name): \(replica.state.words)")
      guard ContinuousClock.now < deadline else {
        throw ControlError.waitTimedOut(
          behind: [name], reason: "\(name): \(replica.problem?.message ?? replica.state.words)")
      }
      Thread.sleep(forTimeInterval: 0.2)
    }
  }

  /// Waits as `cairnctl wait` does, which fails where waiting longer does not help.
  private func isInStep(_ client: ControlClient, within patience: Duration) throws -> Bool {
    do {
      // The bar comes back now and then: the link may begin anew.
      let seconds = max(0, min(patience / .seconds(1), 10))
      _ = try WaitCommand.wait(for: [name], by: client, seconds)
      return true
    } catch ControlError.waitTimedOut {
      return false
    }
  }
}
