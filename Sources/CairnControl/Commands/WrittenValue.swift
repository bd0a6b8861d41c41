// Types that several methods of io.cairn.Sync answer with.

/// A value that was written: what, when and in which store.
public struct WrittenValue: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # A value that was written: when, and in which store (its name, or its UUID when it is not of
    # this group). A value that is too long to be listed is left out, and omitted has its bytes.
    type Write (value: ?object, omitted: ?int, at: string, store: string)
    """

  /// Nil for null, and for a value that is left out.
  public var value: JSONValue?
  /// The bytes of a value that is left out because it is long.
  public var omitted: Int?
  public var at: WireDate
  /// `local`, a replica's name, or the UUID of another store.
  public var store: String

  public init(value: JSONValue?, omitted: Int? = nil, at: WireDate, store: String) {
    self.value = value
    self.omitted = omitted
    self.at = at
    self.store = store
  }
}

/// A replica that an answer does not cover.
public struct AwayReplica: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # A replica that the answer does not cover, and why.
    type Away (name: string, reason: string)
    """

  public var name: String
  public var reason: String

  public init(name: String, reason: String) {
    self.name = name
    self.reason = reason
  }
}
