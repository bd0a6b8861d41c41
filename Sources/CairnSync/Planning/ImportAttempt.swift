/// The attempts to apply one batch, as a value: planning again because of other writers, leaving out
/// records that are refused, and finding those to blame for a failure that names none.
struct ImportAttempt: Hashable, Sendable {
  /// What a failed attempt tells.
  enum Failure: Hashable, Sendable {
    /// Other writers changed what the plan was made on.
    case overtaken
    /// Rows share the values of a uniqueness constraint, which planning may not see.
    case collision(String)
    /// Records that the destination's rules refuse, with what they say.
    case invalid([RecordID: String], String)
    /// Some record is to blame, but not known which.
    case unknown(String)
  }

  enum Step: Hashable, Sendable {
    /// Plan and apply, without these records, for these reasons, and without the links of some.
    case attempt(leavingOut: [RecordID: String], linksOf: [RecordID: String])
    /// Other writers were always faster.
    case contended
    /// Nothing is left to leave out: it is no record's fault.
    case failed
  }

  private var refused: [RecordID: String] = [:]
  /// The records that are refused as the destination has them, when no more than their links change.
  private var unchangeable: [RecordID: String] = [:]
  private let incoming: Set<RecordID>
  private var trial: CulpritTrial
  private var reason = ""
  private var collisions = 0
  private var hasFailed = false
  private let limit: Int
  /// How often the batch was planned again because of other writers.
  private(set) var replans = 0

  /// - Parameter limit: How often to plan again because of other writers.
  init(_ records: some Sequence<RecordID>, limit: Int) {
    incoming = Set(records)
    trial = CulpritTrial(incoming)
    self.limit = limit
  }

  var step: Step {
    if hasFailed { return .failed }
    if replans >= limit { return .contended }
    return .attempt(
      leavingOut: trial.left.reduce(into: refused) { $0[$1] = $0[$1] ?? reason },
      linksOf: unchangeable)
  }

  /// What was left out together and is tried in parts, once the rest went through.
  var parts: [Set<RecordID>] { trial.parts }

  mutating func take(_ failure: Failure) {
    switch failure {
    case .overtaken: replans += 1
    case .collision(let message):
      collisions += 1
      // Planning again sees what a program has written meanwhile. A collision that planning does not see comes
      // back however often it is planned, so from then on each leaves out more, until nothing is left.
      if collisions > 3 { leaveOutMore(message) }
    case .invalid(let records, let message):
      // Those that are left out already were not refused for what has come in of them.
      let (new, old) = records.reduce(into: ([RecordID: String](), [RecordID: String]())) {
        let isNew =
          incoming.contains($1.key) && refused[$1.key] == nil && !trial.left.contains($1.key)
        if isNew { $0.0[$1.key] = $1.value } else { $0.1[$1.key] = $1.value }
      }
      let isNews = !new.isEmpty || old.keys.contains { unchangeable[$0] == nil }
      refused.merge(new) { old, _ in old }
      unchangeable.merge(old) { old, _ in old }
      if !isNews { leaveOutMore(message) }
    case .unknown(let message): leaveOutMore(message)
    }
  }

  private mutating func leaveOutMore(_ message: String) {
    reason = message
    if !trial.next() { hasFailed = true }
  }
}
