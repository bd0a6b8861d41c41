// Asks the daemon.

import CairnControl

/// Why the daemon gave no answer, as a page says it.
struct DaemonUnanswered: Error, Sendable, Hashable {
  let message: String
  /// What to do about it.
  let advice: String?

  init(_ error: any Error) {
    switch error {
    case let error as ControlError:
      message = Phrase.sentence("The daemon refuses to answer: \(error.description)")
      advice = error.hint.map(Phrase.capitalised)
    case let error as ControlClientError:
      message = Phrase.sentence("The daemon is not reachable: \(Self.reason(error))")
      advice = error.hint.map(Phrase.capitalised)
    default:
      message = Phrase.sentence("The daemon cannot be asked: \(error)")
      advice = nil
    }
  }

  private static func reason(_ error: ControlClientError) -> String {
    switch error {
    case .unreachable(let error): "\(error)"
    case .disconnected(let reason): "it ended the connection: \(reason)"
    case .timedOut: "it did not answer in time"
    case .misunderstood(let reason): "its answer is not understood: \(reason)"
    }
  }
}

/// The daemon's control socket, with a connection for each question.
///
/// One that is kept would hold a place that others need, and would outlive a restart of the daemon.
struct DaemonSource: Sendable {
  let connect: @Sendable () throws -> ControlClient

  func status() async throws -> DaemonStatus {
    try await call(GetStatus.self, NoValues()).status
  }

  /// In Prometheus' text format.
  func metrics() async throws -> String { try await call(GetMetrics.self, NoValues()).text }

  func conflicts(after: String?, limit: Int) async throws -> ListConflicts.Reply {
    try await call(ListConflicts.self, .init(after: after, limit: limit))
  }

  func conflict(_ id: String) async throws -> JournaledConflictEntry {
    try await call(GetConflict.self, .init(id: id)).conflict
  }

  func quarantine(after: String?, limit: Int) async throws -> ListQuarantine.Reply {
    try await call(ListQuarantine.self, .init(after: after, limit: limit))
  }

  /// - Throws: ``DaemonUnanswered``, or `PageError` where the daemon does not have what is asked for.
  private func call<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) async throws -> Method.Reply {
    do {
      return try await BlockingRead.run {
        let client = try connect()
        defer { client.close() }
        return try client.call(method, parameters)
      }
    } catch ControlError.entryNotFound(_, _, let reason) {
      throw PageError.missing(Phrase.sentence("There is no such entry (any more): \(reason)"))
    } catch ControlError.invalidParameter {
      throw PageError.missing("The address is none that the daemon knows.")
    } catch {
      throw DaemonUnanswered(error)
    }
  }
}
