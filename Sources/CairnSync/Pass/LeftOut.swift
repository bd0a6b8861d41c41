import CairnStore
import Foundation

/// What a link of one direction leaves in the store that it takes nothing from: records and links of
/// which the other store does not have what this one has.
///
/// Counted once when the link is opened, and again when a purge has removed what was not looked at yet; else from
/// the change order alone. What reaches the other store over another link is left out no more.
struct LeftOut: Sendable {
  private(set) var records: Set<RecordID> = []
  private(set) var links: Set<LinkKey> = []
  private var source: StoreID?
  private var destination: StoreID?
  /// How far the change order of each has been looked at.
  private var sourcePosition: UInt64 = 0
  private var destinationPosition: UInt64 = 0
  private static let page = 1000

  /// How many records: a link counts for its owner.
  var count: Int {
    links.isEmpty ? records.count : records.union(links.map(\.owner)).count
  }

  /// Looks at what has changed since the last time.
  ///
  /// - Parameters:
  ///   - filter: What is exchanged, in the names of the source.
  ///   - afterPage: Called between two parts; what it throws ends the look.
  mutating func update(
    from source: StoreAccess, missingIn destination: StoreAccess, filter: EntityFilter?,
    afterPage: () throws -> Void = {}
  ) throws {
    let comparison = StandingComparison(source: source, destination: destination, filter: filter)
    let (ledger, other) = (try source.ledger(), try destination.ledger())
    // So far a purge has gone through the change order: of the deletes up to there nothing tells any more.
    let purged = try ledger.retention().scanned
    let isNew =
      self.source != ledger.storeID || self.destination != other.storeID
      || ledger.head.sequence < sourcePosition || purged > sourcePosition
    if isNew {
      self = LeftOut()
      (self.source, self.destination) = (ledger.storeID, other.storeID)
    }
    let end = ledger.head.sequence
    // What the source has not read yet is looked at again once it has.
    let read = try ledger.cursor(for: other.storeID).position
    if !records.isEmpty || !links.isEmpty {
      try visit(destination, after: min(destinationPosition, read), except: nil) { ids, keys in
        let keys = keys.map { comparison.back?.link($0) ?? $0 }.filter(links.contains)
        try judge(ids.filter(records.contains), keys, comparison)
        try afterPage()
      }
    }
    // What came from there as it is now is no different.
    try visit(source, after: sourcePosition, except: other.storeID) { ids, keys in
      try judge(ids, keys, comparison)
      try afterPage()
    }
    // After the change order: what is purged from it meanwhile is found here.
    if isNew, try source.ledger().retention().scanned > 0 {
      try comparison.visitUnknown(
        { ids, keys in try judge(ids, keys, comparison) }, afterPage: afterPage)
    }
    (sourcePosition, destinationPosition) = (end, read)
  }

  private func visit(
    _ access: StoreAccess, after position: UInt64, except store: StoreID?,
    _ body: ([RecordID], [LinkKey]) throws -> Void
  ) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    var next = SyncKey.number(position + 1)
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.changes.rawValue, from: next, to: nil, limit: Self.page,
        except: store.map { SyncKey.bytes($0) })
      var records: [RecordID] = []
      var links: [LinkKey] = []
      for (key, _) in page {
        switch try SyncKey.change(from: key).what {
        case .record(let id): records.append(id)
        case .link(let key): links.append(key)
        case .moved: break
        }
      }
      try body(records, links)
      guard page.count == Self.page, let last = page.last else { return }
      next = last.key + Data([0])
    }
  }

  private mutating func judge(
    _ ids: [RecordID], _ keys: [LinkKey], _ comparison: StandingComparison
  ) throws {
    if ids.isEmpty, keys.isEmpty { return }
    let ahead = try comparison.ahead(ids, keys)
    records.subtract(ids)
    records.formUnion(ahead.records)
    links.subtract(keys)
    links.formUnion(ahead.links)
  }
}
