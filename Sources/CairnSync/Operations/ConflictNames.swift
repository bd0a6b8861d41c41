// What a conflict is about, as people name it.

extension Conflict {
  /// The property as the model names it; nil when a delete lost.
  public var propertyName: String? {
    guard isPlace else { return property }
    return property.map { String($0.dropLast(Self.placeSuffix.count)) }
  }

  /// Whether its values are places in the order of a relationship.
  public var isPlace: Bool { property?.hasSuffix(Self.placeSuffix) ?? false }

  /// What follows the name of an ordered relationship where a place in it is meant.
  public static let placeSuffix = SyncSchema.positionSuffix
}
