// io.cairn.Store.Migrate: stores to the version of the model that is current.

/// Says what bringing stores to the current version of the model does, and does it.
///
/// Stores follow by themselves where nothing is lost. What would be dropped a person decides, with this
/// method: until then the store is served at the version that it has.
public enum MigrateStores: ControlMethod {
  public static let name = "io.cairn.Store.Migrate"
  public static let role = ControlRole.control
  public static let isStreaming = true
  public static let declarations = [
    """
    # Rows of an entity, or rows with a value in a property.
    type MigrationCount (place: string, values: int)
    """,
    """
    # Why a migration cannot be done, and where.
    type MigrationObstacle (place: string, reason: string)
    """,
    """
    # From one version to another: what changes with the rows of it, what is dropped, what keeps it from
    # being done.
    type MigrationStep (
      from: string,
      to: string,
      way: (none, lightweight, mapping, missing),
      changed: []MigrationCount,
      dropped: []MigrationCount,
      obstacles: []MigrationObstacle
    )
    """,
    """
    # The way of one store; several steps where it goes through other versions of the model. users are other
    # processes that have it open, in words: values are dropped only once there are none. needsConsent says
    # that it takes allowDrop, also where what is dropped has no values: a newer program may have made the store.
    type MigrationPlan (
      store: string,
      location: string,
      users: ?[]string,
      needsConsent: ?bool,
      steps: []MigrationStep
    )
    """,
    """
    # In parts of a hundred.
    type MigrationProgress (done: int, total: ?int)
    """,
    """
    # kept is the file that holds the store as it was; null when nothing was dropped.
    type MigrationResult (store: string, version: string, kept: ?string)
    """,
    """
    # Bring the store of that name, or all, to the current version of the model, the local store first.
    # Needs more: first the plan of each store, then progress, then a result for each that was migrated.
    # Values are dropped only with allowDrop, and only of a store that no other process has open; with
    # dryRun nothing is done. Role: control.
    method Migrate(name: ?string, allowDrop: ?bool, dryRun: ?bool) -> (
      plan: ?MigrationPlan,
      progress: ?MigrationProgress,
      result: ?MigrationResult
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// All stores when nil.
    public var name: String?
    /// False when nil.
    public var allowDrop: Bool?
    /// False when nil.
    public var dryRun: Bool?

    public init(name: String? = nil, allowDrop: Bool? = nil, dryRun: Bool? = nil) {
      self.name = name
      self.allowDrop = allowDrop
      self.dryRun = dryRun
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var plan: Plan?
    public var progress: StatusProgress?
    public var result: Result?

    public init(plan: Plan? = nil, progress: StatusProgress? = nil, result: Result? = nil) {
      self.plan = plan
      self.progress = progress
      self.result = result
    }
  }

  /// Rows of an entity, or rows with a value in a property.
  public struct Count: Codable, Sendable, Hashable {
    /// `Entity` or `Entity.property`.
    public var place: String
    public var values: Int

    public init(place: String, values: Int) {
      self.place = place
      self.values = values
    }
  }

  public struct Obstacle: Codable, Sendable, Hashable {
    public var place: String
    public var reason: String

    public init(place: String, reason: String) {
      self.place = place
      self.reason = reason
    }
  }

  public struct Step: Codable, Sendable, Hashable {
    public enum Way: String, Codable, Sendable, CaseIterable {
      /// The store is of the version already.
      case none
      case lightweight, mapping
      /// A mapping model is needed, and there is none.
      case missing
    }

    public var from: String
    public var to: String
    public var way: Way
    public var changed: [Count]
    public var dropped: [Count]
    public var obstacles: [Obstacle]

    public init(
      from: String, to: String, way: Way, changed: [Count] = [], dropped: [Count] = [],
      obstacles: [Obstacle] = []
    ) {
      self.from = from
      self.to = to
      self.way = way
      self.changed = changed
      self.dropped = dropped
      self.obstacles = obstacles
    }
  }

  /// The way of one store.
  public struct Plan: Codable, Sendable, Hashable {
    public var store: String
    public var location: String
    /// Other processes that have it open, in words; nil where nothing has to be done.
    public var users: [String]?
    /// Whether it takes `allowDrop`; false when nil.
    public var needsConsent: Bool?
    public var steps: [Step]

    public init(
      store: String, location: String, users: [String]? = nil, needsConsent: Bool? = nil,
      steps: [Step]
    ) {
      self.needsConsent = needsConsent
      self.store = store
      self.location = location
      self.users = users
      self.steps = steps
    }

    /// Whether the store is of the version already.
    public var isDone: Bool { steps.allSatisfy { $0.way == .none } }
    /// What would be lost for good.
    public var losses: [Count] { steps.flatMap(\.dropped).filter { $0.values > 0 } }
    public var obstacles: [Obstacle] { steps.flatMap(\.obstacles) }
  }

  public struct Result: Codable, Sendable, Hashable {
    public var store: String
    /// The version that it has now.
    public var version: String
    /// The file that holds the store as it was; nil when nothing was dropped.
    public var kept: String?

    public init(store: String, version: String, kept: String? = nil) {
      self.store = store
      self.version = version
      self.kept = kept
    }
  }
}
