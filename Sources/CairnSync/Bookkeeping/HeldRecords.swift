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
  ///   - awaited: Which of the references that wait are waited for, and of which entities anything is.
  func held(
    from sources: Set<StoreID>? = nil, awaiting awaited: AwaitedReferences = AwaitedReferences()
  ) throws -> HeldRecords {
    var result = HeldRecords()
    guard let sidecar = store.capabilities.sidecar else { return result }
    try sidecar.visitEntries(of: .quarantine) { _, value in
      let entry = try QuarantineEntry(decoding: value)
      if let sources, sources.isDisjoint(with: entry.sources) { return }
      if awaited.filter?.exchanges(entry.content) == false { return }
      switch entry.reason {
      case .validation: result.invalid += 1
      case .clockSkew: result.ahead += 1
      }
      result.reason = result.reason ?? "\(entry.content.name): \(entry.message)"
    }
    try visitParked { target, reference, ledger in
      guard try awaited.include(reference, to: target, ledger) else { return }
      result.parked += 1
      if result.reason == nil { result.reason = try ledger.text(of: reference, to: target) }
    }
    return result
  }
}

extension Ledger {
  /// What waits, for people: "Part.item of the record 0195… waits for the record 0196…".
  fileprivate func text(of reference: WaitingReference, to target: RecordID) throws -> String {
    let entity = try record(reference.owner)?.entity ?? "?"
    let isUnited = reference.property == ImportPlanner.survivorProperty
    let what = isUnited ? "what \(entity) was united with" : "\(entity).\(reference.property)"
    return "\(what) of the record \(reference.owner) waits for the record \(target)"
  }
}

extension SidecarKeeping {
  /// Visits a map's entries in the order of their keys, a page at a time.
  ///
  /// - Parameters:
  ///   - start: The first key; nil for all.
  ///   - isEnough: Asked after each page, whether to end there.
  func visitEntries(
    of map: SyncMap, from start: Data? = nil, until isEnough: () -> Bool = { false },
    _ visit: (_ key: Data, _ value: Data) throws -> Void, afterPage: () throws -> Void = {}
  ) throws {
    let page = 1000
    var next = start
    while true {
      let entries = try sidecarEntries(of: map.rawValue, from: next, to: nil, limit: page)
      for (key, value) in entries { try visit(key, value) }
      guard entries.count == page, let last = entries.last, !isEnough() else { return }
      try afterPage()
      next = last.key + Data([0])
    }
  }
}
