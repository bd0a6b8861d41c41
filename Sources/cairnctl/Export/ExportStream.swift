// The rows of an export as the daemon sends them.
import CairnControl

/// Hands over the answers of one call fetch by fetch.
final class ExportStream {
  private let client: ControlClient
  private let fetches: [ExportRecords.Fetch]
  private var position = 0
  /// The first answer of the next fetch, read already.
  private var ahead: ExportRecords.Reply?

  /// Asks the daemon.
  init(_ client: ControlClient, _ fetches: [ExportRecords.Fetch], store: String?) throws {
    self.client = client
    self.fetches = fetches
    if fetches.isEmpty { return }
    try client.send(ExportRecords.self, .init(fetches: fetches, store: store))
  }

  /// Reads the rows of the next fetch, which is the one that is given.
  ///
  /// - Throws: What the daemon answers, or the caller's function throws.
  func next(
    _ fetch: ExportRecords.Fetch, _ each: ([[String: JSONValue]]) throws -> Void
  ) throws {
    guard position < fetches.count, fetches[position] == fetch else {
      throw ControlClientError.misunderstood("the rows of an export came in another order")
    }
    defer { position += 1 }
    if let ahead, ahead.fetch == position {
      try each(ahead.rows)
      self.ahead = nil
    }
    while ahead == nil {
      let (reply, continues) = try client.receive(ExportRecords.self)
      if reply.fetch == position { try each(reply.rows) } else { ahead = reply }
      if !continues { return }
    }
  }
}
