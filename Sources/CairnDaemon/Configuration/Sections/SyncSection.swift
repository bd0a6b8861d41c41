// `sync`: how stores are brought together.

/// How the links work.
public struct SyncSection: Sendable, Hashable {
  /// Who wins when one side deletes a record and the other writes to it.
  public enum Conflict: String, Sendable, Hashable, CaseIterable {
    case lastWriter, deleteWins, writeWins
  }

  /// For entities that `entityConflicts` does not name.
  public var defaultConflict: Conflict
  public var entityConflicts: [String: Conflict]
  /// Readings of other clocks further ahead are not applied.
  public var maxClockSkew: Duration
  /// Age at which history, tombstones and conflict entries go.
  public var retention: Duration
  /// Time between comparisons; zero for none.
  public var verifyEvery: Duration
  /// Longest time between looks at a replica that gives no sign.
  public var pollInterval: Duration
  /// Longest time between attempts to reach a replica.
  public var maxRetryDelay: Duration

  public init(
    defaultConflict: Conflict = .lastWriter, entityConflicts: [String: Conflict] = [:],
    maxClockSkew: Duration = .seconds(300), retention: Duration = .seconds(30 * 86400),
    verifyEvery: Duration = .seconds(86400), pollInterval: Duration = .seconds(5),
    maxRetryDelay: Duration = .seconds(60)
  ) {
    self.defaultConflict = defaultConflict
    self.entityConflicts = entityConflicts
    self.maxClockSkew = maxClockSkew
    self.retention = retention
    self.verifyEvery = verifyEvery
    self.pollInterval = pollInterval
    self.maxRetryDelay = maxRetryDelay
  }

  static func read(_ reader: SectionReader) -> SyncSection {
    var section = SyncSection()
    let conflict = reader.section("conflict")
    section.defaultConflict = conflict.choice("default", default: section.defaultConflict)
    let entities = conflict.section("entities")
    for (entity, _) in entities.namedValues() {
      section.entityConflicts[entity] = entities.choice(entity, default: section.defaultConflict)
    }
    conflict.finish()
    let day = Duration.seconds(86400)
    section.maxClockSkew = reader.duration(
      "maxClockSkew", default: section.maxClockSkew, in: .seconds(1)...day)
    section.retention = reader.duration(
      "retention", default: section.retention, in: .seconds(3600)...(day * 3650))
    let verify = reader.section("verify")
    section.verifyEvery = verify.duration(
      "every", default: section.verifyEvery, in: .zero...(day * 365))
    verify.finish()
    section.pollInterval = reader.duration(
      "pollInterval", default: section.pollInterval, in: .milliseconds(100)...day)
    section.maxRetryDelay = reader.duration(
      "maxRetryDelay", default: section.maxRetryDelay, in: .seconds(1)...day)
    reader.finish()
    return section
  }
}
