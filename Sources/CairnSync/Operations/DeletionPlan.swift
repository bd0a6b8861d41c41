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
  /// The store that deleted them, and up to which place of its change order.
  let source: StoreID
  let position: UInt64

  /// Another for every other plan.
  public var id: String {
    ([source.description, String(position)] + entities.map { "\($0.entity)=\($0.deleted)" })
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

/// What an operator said about the deletions of a source up to a place of its change order; kept in the
/// store in which they are made, so that it outlives the daemon.
struct DeletionVerdict: Hashable, Sendable {
  var position: UInt64
  var isApproved: Bool

  // Bytes: position 8 · 1 approved, 0 rejected
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(position)
    writer.byte(isApproved ? 1 : 0)
    return writer.data
  }
  init(position: UInt64, isApproved: Bool) {
    self.position = position
    self.isApproved = isApproved
  }
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    position = try reader.fixed()
    isApproved = try reader.byte() == 1
  }
}

/// Thrown by a pass that must not go on before a person has approved it.
struct ApprovalNeeded: Error {
  let plan: DeletionPlan
}
