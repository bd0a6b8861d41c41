/// What a comparison of two stores reads, and so what its answer says.
public enum VerifyLevel: String, Sendable, Hashable, CaseIterable {
  /// The digests over record IDs and stamps, and how many rows there are under which keys; and all that
  /// differs in that.
  ///
  /// "Equal" says: both stores have taken up the same writes, and every row belongs to one of these
  /// records. It does not say that the rows hold what was written: a value that a program changed past
  /// history, with SQL of its own, is found only by reading.
  case quick
  /// Every value of every row, every member of every relationship, and the digests themselves.
  case full
}

/// What a comparison found.
public struct VerifyReport: Sendable, Hashable {
  public let replica: String
  /// What was read.
  public let level: VerifyLevel
  /// Live records compared.
  ///
  /// Of a replica with some entities only, those of these entities; at `quick` those of the trees that
  /// they are in, for each of which there is one digest.
  public let records: Int
  /// Relationship members compared.
  public let links: Int
  /// What should not differ; without what the link's direction leaves out.
  public internal(set) var differences: [StoreDifference]
  /// How many records differ because the link goes in one direction only: they stay where they are.
  public internal(set) var leftOut = 0
  /// Whether digests were found to be wrong and are counted anew; what is reported here was read.
  public internal(set) var hadWrongDigests = false
  /// Whether both stores hold the same.
  public var isEqual: Bool { differences.isEmpty && leftOut == 0 }
}

/// What the last comparison of a replica found and none has found to be over.
public struct KnownDifferences: Sendable, Hashable {
  public let count: Int
  /// When they were found, in milliseconds since 1970.
  public let found: UInt64
  /// What was read.
  ///
  /// Only a comparison that reads as much tells that they are over.
  public let level: VerifyLevel
  /// How many of them no pass of the link is going to mend, so that the stores are not in step: written past
  /// history, for instance.
  public let lasting: Int
  /// How many values passes have met since then that are not what their write wrote: counted in ``count`` and
  /// ``lasting``, until everything is compared.
  public let contradictions: Int
  /// How many of these could not be read where they came from: they have replaced nothing.
  let unreadable: Int
  /// Whether records waited when they were found and passes mend all of them, so that they are over once a pass has
  /// left nothing waiting.
  let areOfHeld: Bool

  /// What is known after a comparison.
  ///
  /// - Parameters:
  ///   - isComplete: Whether nothing that arrived waits, by which records may differ for a while.
  ///   - known: What was known before; nil for nothing.
  static func after(
    _ report: VerifyReport, at time: UInt64, _ direction: SyncDirection, isComplete: Bool,
    known: Self?
  ) -> Self? {
    if report.differences.isEmpty {
      return known?.level == .full && report.level == .quick ? known : nil
    }
    let lasting = report.differences.count { $0.isLasting(direction, isComplete: isComplete) }
    let found = KnownDifferences(
      count: report.differences.count, found: time, level: report.level, lasting: lasting,
      areOfHeld: !isComplete && lasting == 0)
    guard report.level == .quick, let known, known.contradictions > 0 else { return found }
    return after(
      contradictions: known.contradictions, unreadable: known.unreadable, at: time, known: found)
  }

  /// What is known after a pass that has met values which are not what their write wrote.
  ///
  /// - Parameter unreadable: How many of them could not be read.
  static func after(
    contradictions count: Int, unreadable: Int = 0, at time: UInt64, known: Self?
  ) -> Self {
    KnownDifferences(
      count: (known?.count ?? 0) + count, found: time, level: .full,
      lasting: (known?.lasting ?? 0) + count, contradictions: (known?.contradictions ?? 0) + count,
      unreadable: (known?.unreadable ?? 0) + unreadable)
  }

  init(
    count: Int, found: UInt64, level: VerifyLevel, lasting: Int, contradictions: Int = 0,
    unreadable: Int = 0, areOfHeld: Bool = false
  ) {
    self.areOfHeld = areOfHeld
    self.unreadable = unreadable
    self.count = count
    self.found = found
    self.level = level
    self.lasting = lasting
    self.contradictions = contradictions
  }

  /// For people: "2 differences that a comparison has found".
  var text: String {
    let compared = lasting - contradictions
    var parts: [String] = []
    if contradictions > 0 {
      parts.append(
        contradictions == 1
          ? "1 value that is not what was written"
          : "\(contradictions) values that are not what was written")
    }
    if compared > 0 || parts.isEmpty {
      parts.append(
        "\(compared) \(compared == 1 ? "difference" : "differences") that a comparison has found")
    }
    return parts.joined(separator: ", ")
  }
}

/// One way in which two stores differ.
public struct StoreDifference: Sendable, Hashable {
  /// Where the record is.
  public enum Kind: String, Sendable, Hashable {
    case onlyLocal = "only-local"
    case onlyReplica = "only-replica"
    /// A row of the local store, or of the replica, that sync does not know, so that it does not
    /// travel.
    case unknownLocal = "unknown-local"
    case unknownReplica = "unknown-replica"
    /// A property has other values.
    case value
    /// A property has the same value, but not by the same write.
    case stamp
    /// The members of a relationship are others.
    case members
    /// The row of one store is of another entity than that of the other, or than was written.
    case entity
    /// A row of the local store, or of the replica, holds a value that is none of its attribute's type, such as
    /// a text in the column of a number, or names a file that is not there: damage that does not travel.
    case damagedLocal = "damaged-local"
    case damagedReplica = "damaged-replica"
    /// A row of the local store that was saved is gone, with no history that tells of it.
    case vanished
    /// A row of the local store belongs to one that is gone, and the model deletes it along with that.
    case orphaned
    /// A row of the local store was never saved: a program added it past history.
    case unsaved
    /// A row of the local store is not as it was saved: a program or a disk changed it past history.
    case changed
  }
  public let kind: Kind
  /// Nil for a row that sync does not know.
  public let record: RecordID?
  public let entity: String
  /// The property or relationship; nil for whole records.
  public let property: String?
  /// The object's URI, for a row that sync does not know or that is gone.
  public let row: String?
  /// Of a property: the values in the local store and in the replica; nil where there is none.
  public let values: Values?

  /// Two values of a property.
  public struct Values: Sendable, Hashable {
    public let local: WireValue?
    public let replica: WireValue?
    /// Whether both are of the same write: one of them was changed past history.
    public let areOfOneWrite: Bool
  }

  /// Whether a link that goes in this direction leaves it as it is, though it should not.
  func isLasting(_ direction: SyncDirection, isComplete: Bool) -> Bool {
    switch kind {
    case .unknownLocal: return direction.pushes
    case .unknownReplica: return direction.pulls
    // A pass that left nothing waiting has brought the later of two writes, or never will.
    case .value: return isOfOneWrite || isComplete
    case .damagedLocal, .damagedReplica, .vanished, .orphaned, .unsaved, .changed, .entity:
      return true
    // What the direction leaves out is no difference.
    case .onlyLocal, .onlyReplica, .members: return isComplete
    case .stamp: return false
    }
  }

  /// Whether the two values are of the same write.
  var isOfOneWrite: Bool { values?.areOfOneWrite == true }

  init(
    kind: Kind, record: RecordID?, entity: String, property: String? = nil, row: String? = nil,
    values: Values? = nil
  ) {
    self.values = values
    self.kind = kind
    self.record = record
    self.entity = entity
    self.property = property
    self.row = row
  }
}
