// io.cairn.Store.List: the stores and how they are set up.

/// Lists the local store and every replica with their settings.
public enum ListStores: ControlMethod {
  public static let name = "io.cairn.Store.List"
  public static let role = ControlRole.status
  public static let declarations = [
    StoreDescription.declaration,
    """
    # All stores with their settings. Role: status.
    method List() -> (stores: []Store)
    """,
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    public var stores: [StoreDescription]
    public init(stores: [StoreDescription]) { self.stores = stores }
  }
}

/// A store's settings and whether it is open.
public struct StoreDescription: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    type Store (
      name: string,
      role: (local, replica),
      type: string,
      location: string,
      direction: ?(both, push, pull),
      origin: (configuration, command),
      state: string,
      identifier: ?string
    )
    """

  public enum Role: String, Codable, Sendable, CaseIterable {
    case local, replica
  }

  /// Where the store was named.
  public enum Origin: String, Codable, Sendable, CaseIterable {
    /// In the configuration.
    case configuration
    /// By `Add`, while running; remembered across restarts.
    case command
  }

  public var name: String
  public var role: Role
  public var type: String
  public var location: String
  /// Nil for the local store.
  public var direction: ReplicaStatus.Direction?
  public var origin: Origin
  /// The same words as in the status.
  public var state: String
  /// The store's own ID, once it was opened.
  public var identifier: String?

  public init(
    name: String, role: Role, type: String, location: String,
    direction: ReplicaStatus.Direction? = nil, origin: Origin, state: String,
    identifier: String? = nil
  ) {
    self.name = name
    self.role = role
    self.type = type
    self.location = location
    self.direction = direction
    self.origin = origin
    self.state = state
    self.identifier = identifier
  }
}
