// io.cairn.Sync.Approve: a pass that deletes much may go on.

/// Lets a link that would delete more than is configured go on, or keeps it stopped.
public enum ApproveDeletions: ControlMethod {
  public static let name = "io.cairn.Sync.Approve"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # What would be deleted of one entity, and how many records of it the store has.
    type Deletions (entity: string, deleted: int, total: int)
    """,
    """
    # Let a link go on that waits because it would delete more than is configured; with reject it
    # stays stopped. plan is that of the wait in the status: the call is refused when more would be
    # deleted by now. Without it the link's latest plan is meant. store is where they are deleted.
    # Role: control.
    method Approve(name: string, plan: ?string, reject: ?bool) -> (
      store: string,
      deletions: []Deletions
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var name: String
    /// The link's latest plan when nil.
    public var plan: String?
    /// False when nil.
    public var reject: Bool?

    public init(name: String, plan: String? = nil, reject: Bool? = nil) {
      self.name = name
      self.plan = plan
      self.reject = reject
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// Where they are deleted: the replica, or `local`.
    public var store: String
    public var deletions: [Deletions]

    public init(store: String, deletions: [Deletions]) {
      self.store = store
      self.deletions = deletions
    }
  }

  /// What is deleted of one entity.
  public struct Deletions: Codable, Sendable, Hashable {
    public var entity: String
    public var deleted: Int
    /// Records that the store has now.
    public var total: Int

    public init(entity: String, deleted: Int, total: Int) {
      self.entity = entity
      self.deleted = deleted
      self.total = total
    }
  }
}
