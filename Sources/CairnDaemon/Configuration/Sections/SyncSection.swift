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
  /// How many records of one entity a pass deletes without asking; 0 for any number.
  public var mostDeletions: Int
  /// How many percent of an entity's records a pass deletes without asking; 100 for all.
  public var deletionShare: Int
  /// Entities with fewer records are never asked about.
  public var smallestEntity: Int
  /// Longest time between looks at a replica that gives no sign.
  public var pollInterval: Duration
  /// Longest time between attempts to reach a replica.
  public var maxRetryDelay: Duration
  /// How long READY waits for required replicas at a start.
  public var requiredWait: Duration

  public init(
    defaultConflict: Conflict = .lastWriter, entityConflicts: [String: Conflict] = [:],
    maxClockSkew: Duration = .seconds(300), retention: Duration = .seconds(30 * 86400),
    verifyEvery: Duration = .seconds(86400), mostDeletions: Int = 0, deletionShare: Int = 50,
    smallestEntity: Int = 1000, pollInterval: Duration = .seconds(5),
    maxRetryDelay: Duration = .seconds(60), requiredWait: Duration = .seconds(60)
  ) {
    self.defaultConflict = defaultConflict
    self.entityConflicts = entityConflicts
    self.maxClockSkew = maxClockSkew
    self.retention = retention
    self.verifyEvery = verifyEvery
    self.mostDeletions = mostDeletions
    self.deletionShare = deletionShare
    self.smallestEntity = smallestEntity
    self.pollInterval = pollInterval
    self.maxRetryDelay = maxRetryDelay
    self.requiredWait = requiredWait
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
    let deletions = reader.section("deletions")
    section.mostDeletions = deletions.number(
      "most", default: section.mostDeletions, in: 0...1_000_000_000)
    section.deletionShare = deletions.number(
      "share", default: section.deletionShare, in: 0...100)
    section.smallestEntity = deletions.number(
      "smallest", default: section.smallestEntity, in: 0...1_000_000_000)
    deletions.finish()
    section.pollInterval = reader.duration(
      "pollInterval", default: section.pollInterval, in: .milliseconds(100)...day)
    section.maxRetryDelay = reader.duration(
      "maxRetryDelay", default: section.maxRetryDelay, in: .seconds(1)...day)
    section.requiredWait = reader.duration(
      "requiredWait", default: section.requiredWait, in: .zero...(.seconds(3600)))
    reader.finish()
    return section
  }
}
