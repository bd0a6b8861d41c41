import Foundation

/// How much one pass may delete without asking.
public struct DeletionLimit: Sendable, Hashable {
  /// The most records of one entity; nil for any number.
  public var count: Int?
  /// The greatest part of an entity's records, 0 to 1; nil for any.
  public var share: Double?
  /// Entities of which the store has fewer records than this are never asked about.
  public var smallest: Int

  public init(count: Int? = nil, share: Double? = 0.5, smallest: Int = 1000) {
    self.count = count
    self.share = share
    self.smallest = smallest
  }

  /// No limit at all.
  public static let none = DeletionLimit(count: nil, share: nil, smallest: 0)

  /// The greatest number of deletions that is within the limit for every entity.
  var harmless: Int {
    let byShare = share.map { share in
      Int(Double(max(0, min(smallest, 1 << 40))) * max(0, min(share, 1)))
    }
    return [count.map { max(0, $0) }, byShare].compactMap { $0 }.min() ?? .max
  }

  func isExceeded(deleting deleted: Int, of total: Int) -> Bool {
    if total < smallest || deleted == 0 { return false }
    if let count, deleted > count { return true }
    if let share, Double(deleted) > share * Double(total) { return true }
    return false
  }
}

/// What a pass would delete of one entity, more than is configured.
public struct PendingDeletion: Sendable, Hashable {
  public let entity: String
  public let deleted: Int
  /// How many records the store has now.
  public let total: Int

  public init(entity: String, deleted: Int, total: Int) {
    self.entity = entity
    self.deleted = deleted
    self.total = total
  }
}

/// What a link waits to be approved, because it would delete more than ``DeletionLimit`` allows.
public struct DeletionPlan: Sendable, Hashable, Identifiable {
  /// The link's replica.
  public let replica: String
  /// The store in which they would be deleted: the replica, or `local`.
  public let store: String
  /// By name, those that exceed the limit.
  public let entities: [PendingDeletion]
  /// Whether it was rejected.
  public let isRejected: Bool
  /// The store that they come from.
  let source: StoreID
  let extent: DeletionExtent

  /// Another for every other plan.
  public var id: String {
    ([source.description, String(extent.mark)] + entities.map { "\($0.entity)=\($0.deleted)" })
      .joined(separator: " ")
  }

  /// "waiting for approval: 1,200 of 1,300 Item would be deleted in nas".
  public var message: String {
    let parts = entities.map {
      "\(Self.text($0.deleted)) of \(Self.text($0.total)) \($0.entity)"
    }
    return (isRejected ? "stopped, as rejected: " : "waiting for approval: ")
      + parts.joined(separator: ", ") + " would be deleted in \(store)"
  }

  /// The plan as an error of those who wait for the link.
  public var error: SyncError {
    SyncError(.awaitingApproval, message, recovery: .person, replicas: [replica])
  }

  private static func text(_ number: Int) -> String {
    var digits = String(number)
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits = String(digits.dropLast(3))
    }
    return ([digits] + groups.map(String.init)).joined(separator: ",")
  }
}

/// Which deletes a plan is about, so that others are told from them.
///
/// By their stamps: their places in the source's change order move when a daemon that has taken them tells the source
/// so.
struct DeletionExtent: Hashable, Sendable {
  /// By the store that deleted, the last of its deletes.
  var stamps = SeenWrites()
  /// The place of the source's change order before which it has forgotten deletes that are among them; 0 for none.
  var forgotten: UInt64 = 0

  mutating func formUnion(_ other: DeletionExtent) {
    stamps.formUnion(other.stamps)
    forgotten = max(forgotten, other.forgotten)
  }

  /// Whether all deletes of the other are among those of this one.
  func covers(_ other: DeletionExtent) -> Bool {
    other.forgotten <= forgotten
      && other.stamps.readings.allSatisfy { stamps.covers(Stamp(clock: $0.value, store: $0.key)) }
  }

  /// Another number once a store has deleted more.
  var mark: UInt64 {
    stamps.readings.values.reduce(forgotten) { $0 &+ $1.bits }
  }
}

/// What an operator said about the deletes that come from a source; kept in the store in which they are
/// made, so that it outlives the daemon.
struct DeletionVerdict: Hashable, Sendable {
  var extent: DeletionExtent
  var isApproved: Bool

  // Bytes: forgotten 8 · 1 approved, 0 rejected · stamps
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(extent.forgotten)
    writer.byte(isApproved ? 1 : 0)
    writer.seen(extent.stamps)
    return writer.data
  }
  init(extent: DeletionExtent, isApproved: Bool) {
    self.extent = extent
    self.isApproved = isApproved
  }
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    extent = DeletionExtent(forgotten: try reader.fixed())
    isApproved = try reader.byte() == 1
    if reader.isAtEnd {
      // Earlier versions named a place alone, which says nothing of what was deleted by whom: the link asks once more.
      extent = DeletionExtent()
    } else {
      extent.stamps = try reader.seen()
    }
  }
}

/// Thrown by a pass that must not go on before a person has approved it.
struct ApprovalNeeded: Error {
  let plan: DeletionPlan
}
