import Foundation

/// An incoming record or link that could not be applied, kept until it can.
public struct QuarantineEntry: Hashable, Sendable {
  /// Why it waits.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The merged object does not pass validation, or a delete is denied.
    case validation
    /// A stamp lies further in the future than the allowed skew.
    case clockSkew = "clock-skew"
  }

  /// What waits, with all that is known of it.
  public enum Content: Sendable, Hashable {
    case record(RecordState)
    case link(LinkChange)

    /// For people: "Item 0190…", or the relationship with both ends.
    var name: String {
      switch self {
      case .record(let state): return "\(state.entity) \(state.id)"
      case .link(let link):
        return "\(link.key.relationship) \(link.key.owner) \(link.key.member)"
      }
    }
  }

  public let reason: Reason
  /// What is wrong, for people.
  public let message: String
  /// The store it came from first.
  public let source: StoreID
  /// The stores that have sent it, or a part of it, since: no link to any of them is in step while it waits.
  let otherSources: Set<StoreID>
  /// When it was put here, in milliseconds since 1970.
  public let since: UInt64
  public let content: Content

  /// - Parameters:
  ///   - source: The store that it comes from now.
  ///   - earlier: What has waited in its place.
  init(
    reason: Reason, message: String, source: StoreID, since: UInt64, content: Content,
    insteadOf earlier: QuarantineEntry? = nil
  ) {
    self.reason = reason
    self.message = message
    let first = earlier?.source ?? source
    self.source = first
    otherSources = (earlier?.otherSources ?? []).union([source]).subtracting([first])
    self.since = since
    self.content = content
  }

  var sources: Set<StoreID> { otherSources.union([source]) }

  /// The record that waits; nil for a link.
  public var state: RecordState? {
    if case .record(let state) = content { return state }
    return nil
  }

  /// The link that waits; nil for a record.
  public var link: LinkChange? {
    if case .link(let link) = content { return link }
    return nil
  }

  /// Whether it has news from further in the future than is believed.
  func isAhead(of time: CredibleTime, in ledger: Ledger) throws -> Bool {
    switch content {
    case .record(let state):
      return try state.reading(beyond: time, newTo: ledger.record(state.id)) != nil
    case .link(let link):
      return try link.state.reading(beyond: time, newTo: ledger.link(link.key)?.state) != nil
    }
  }

  // Bytes: version (1 record, 2 link) · reason string · message string · source 16 · since 8 ·
  // record or link · for what more stores than one have sent: their number, and 16 of each of the others
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(link == nil ? 1 : 2)
    writer.string(reason.rawValue)
    writer.string(message)
    writer.identity(source)
    writer.fixed(since)
    switch content {
    case .record(let state): writer.record(state)
    case .link(let link): writer.link(link)
    }
    if !otherSources.isEmpty {
      writer.count(otherSources.count)
      for other in otherSources.sorted() { writer.identity(other) }
    }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    let version = try reader.byte()
    guard version == 1 || version == 2, let reason = Reason(rawValue: try reader.string()) else {
      throw ByteReader.damaged
    }
    self.reason = reason
    message = try reader.string()
    source = try reader.identity(StoreID.self)
    since = try reader.fixed()
    content = version == 1 ? .record(try reader.record()) : .link(try reader.link())
    var others: Set<StoreID> = []
    if !reader.isAtEnd {
      for _ in 0..<(try reader.count()) { others.insert(try reader.identity(StoreID.self)) }
    }
    otherSources = others
  }
}
