/// What a step of a pass did.
struct PassReport: Sendable {
  var event: PassState.Event
  var captured = 0
  var records = 0
  var links = 0
  var conflicts = 0
  /// How often two values of one write met: one of them was changed past history.
  var contradictions = 0
  /// How many values of the records that moved could not be read, and stay in their store.
  var unreadable = 0
  /// What was put into quarantine.
  var held: [QuarantineEntry.Content] = []
  var replans = 0
  /// Whether a program has written to the destination since the set before.
  var metWriters = false
  /// Where the destination's cursor is now, after a move.
  var position: UInt64?
  /// How much of the first copy is done, while it runs.
  var progress: Double?
  /// The stores that were found to have gone back in time, by their paths.
  var restored: [String] = []
  /// The stores whose clock had run ahead of this machine's, by their paths, in milliseconds.
  var fallenBack: [String: UInt64] = [:]
  /// The stores whose history was gone before it was captured.
  var gaps: [String] = []
  /// The stores that had been away for longer than the retention, by their paths, with the number of
  /// records and links that had been deleted meanwhile.
  var returned: [String: Int] = [:]

  mutating func take(_ outcome: ChangeImporter.Outcome) {
    records += outcome.records
    links += outcome.links
    conflicts += outcome.conflicts
    contradictions += outcome.contradictions
    held += outcome.held
    replans += outcome.replans
    metWriters = metWriters || outcome.metWriters
  }
}
