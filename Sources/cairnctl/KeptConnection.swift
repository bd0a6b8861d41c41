// The connection of a command that goes on looking while the daemon is restarted.
import CairnControl
import CairnPlatform
import Foundation

/// A connection that is made again when it has ended.
final class KeptConnection {
  private let shared: SharedOptions
  private let begin: (ControlClient) throws -> Void
  private var client: ControlClient?
  /// Since when the daemon is not reachable, and why; nil while it is.
  private(set) var absence: (since: WireDate, reason: any Error)?

  /// How long an answer may take where the command line says nothing; keys wait for it, too.
  private static let patience = Duration.seconds(5)

  /// - Parameter begin: What is sent first on each connection.
  /// - Throws: Where the daemon is not reachable to begin with.
  init(_ shared: SharedOptions, begin: @escaping (ControlClient) throws -> Void = { _ in }) throws {
    self.shared = shared
    self.begin = begin
    client = try connect()
  }

  private func connect() throws -> ControlClient {
    let client = try shared.connect()
    if shared.timeout == nil { client.timeout = Self.patience }
    try begin(client)
    return client
  }

  /// What the daemon answers; nil while it is not reachable, starts or stops.
  func ask<Answer>(_ question: (ControlClient) throws -> Answer) throws -> Answer? {
    do {
      let current = try client ?? connect()
      client = current
      let answer = try question(current)
      absence = nil
      return answer
    } catch let error as ControlClientError {
      if case .misunderstood = error { throw error }
      lose(error)
    } catch let error as ControlError where Self.isPassing(error) {
      lose(error)
    }
    return nil
  }

  /// Whether the daemon starts or stops, or opens a store anew.
  private static func isPassing(_ error: ControlError) -> Bool {
    switch error {
    case .notReady, .storeUnavailable(_, StatusProblem.storeClosed, _): true
    default: false
    }
  }

  private func lose(_ reason: any Error) {
    client?.close()
    client = nil
    absence = (absence?.since ?? .now, reason)
  }

  /// What is shown in the place of what the daemon would say.
  var absenceLines: [String] {
    guard let absence else { return [] }
    return TerminalText.wrapped("cairnd is not reachable since \(Readable.moment(absence.since))")
      + TerminalText.wrapped("\(absence.reason)", indent: "  ")
      + TerminalText.wrapped(
        "`systemctl status cairnd` says more; it is asked again until it answers", indent: "  ")
  }
}
