import CairnStore
import Foundation

/// What a link could not make visible: it arrived and waits, or the link's direction leaves it out.
public struct HeldRecords: Hashable, Sendable {
  /// Records that do not pass validation, or whose delete is denied.
  public var invalid = 0
  /// Records with a stamp further in the future than the allowed skew.
  public var ahead = 0
  /// References to records that have not arrived.
  public var parked = 0
  /// What is known of the first of them, for people; nil when nothing is held.
  public var reason: String?
  /// Records that a link of one direction leaves where they are; they have not arrived, and are not going
  /// to.
  public var leftOut = 0

  public init() {}

  /// How much arrived and waits.
  public var count: Int { invalid + ahead + parked }

  /// What waits, in words: "2 records in quarantine, 1 record held by clock skew".
  public var text: String {
    func part(_ count: Int, _ one: String, _ many: String) -> String? {
      count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }
    let parts = [
      part(invalid, "record in quarantine", "records in quarantine"),
      part(ahead, "record held by clock skew", "records held by clock skew"),
      part(
        parked, "reference to a record that has not arrived",
        "references to records that have not arrived"),
    ].compactMap { $0 }
    return parts.joined(separator: ", ") + (reason.map { ": \($0)" } ?? "")
  }

  static func + (a: HeldRecords, b: HeldRecords) -> HeldRecords {
    var sum = a
    sum.invalid += b.invalid
    sum.ahead += b.ahead
    sum.parked += b.parked
    sum.leftOut += b.leftOut
    sum.reason = a.reason ?? b.reason
    return sum
  }
}

extension StoreAccess {
  /// What waits in this store's bookkeeping.
  ///
  /// - Parameters:
  ///   - sources: Only what came from there, by all names that the store has had; nil for all.
  ///   - filter: What is exchanged: references to other records wait for nothing.
  ///   - hasArrived: Whether a record that is unknown here has arrived before.
  func held(
    from sources: Set<StoreID>? = nil, filter: EntityFilter? = nil,
    hasArrived: (RecordID) throws -> Bool = { _ in false }
  ) throws -> HeldRecords {
    var result = HeldRecords()
    guard let sidecar = store.capabilities.sidecar else { return result }
    try sidecar.visitEntries(of: .quarantine) { _, value in
      let entry = try QuarantineEntry(decoding: value)
      if let sources, sources.isDisjoint(with: entry.sources) { return }
      switch entry.reason {
      case .validation: result.invalid += 1
      case .clockSkew: result.ahead += 1
      }
      result.reason = result.reason ?? "\(entry.content.name): \(entry.message)"
    }
    var ledger = try self.ledger()
    try sidecar.visitEntries(of: .parked) { key, gone in
      // What is known here and has no object was deleted, as was what has arrived and is unknown again: that is not
      // going to arrive.
      guard gone.isEmpty else { return }
      let target = try SyncKey.identity(RecordID.self, in: key.prefix(16))
      guard try ledger.record(target) == nil else { return }
      let property = String(decoding: key.dropFirst(32), as: UTF8.self)
      // What stands for a record may be of an entity that is not exchanged: it has been there, and does not come.
      let isKept = filter != nil && property == ImportPlanner.survivorProperty
      if try !isKept && hasArrived(target) { return }
      if let filter {
        let owner = try SyncKey.identity(RecordID.self, in: key.dropFirst(16).prefix(16))
        if let entity = try ledger.record(owner)?.entity, filter.leadsOut(property, of: entity) {
          return
        }
      }
      result.parked += 1
    } afterPage: {
      ledger = try self.ledger()
    }
    return result
  }
}

extension SidecarKeeping {
  /// Visits a map's entries in the order of their keys, a page at a time.
  func visitEntries(
    of map: SyncMap, _ visit: (_ key: Data, _ value: Data) throws -> Void,
    afterPage: () throws -> Void = {}
  ) throws {
    let page = 1000
    var next: Data?
    while true {
      let entries = try sidecarEntries(of: map.rawValue, from: next, to: nil, limit: page)
      for (key, value) in entries { try visit(key, value) }
      guard entries.count == page, let last = entries.last else { return }
      try afterPage()
      next = last.key + Data([0])
    }
  }
}
