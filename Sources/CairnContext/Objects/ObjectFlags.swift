/// What a context knows about one of its objects, in one word.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  /// Not saved yet.
  static let inserted = Self(rawValue: 1 << 0)
  /// Changed since it was fetched or saved.
  ///
  /// Never together with `inserted`.
  static let updated = Self(rawValue: 1 << 1)
  /// To be deleted with the next save.
  static let deleted = Self(rawValue: 1 << 2)
  /// Inserted and deleted again without a save between; detached at the end of the event.
  static let discarded = Self(rawValue: 1 << 3)
  /// The slots belong to the object and are not those of its snapshot.
  static let ownsSlots = Self(rawValue: 1 << 4)
  /// The row was gone when the fault was fired.
  static let inaccessible = Self(rawValue: 1 << 5)
  /// Listed among the objects of the current event.
  static let inEvent = Self(rawValue: 1 << 6)
  static let eventInserted = Self(rawValue: 1 << 7)
  static let eventUpdated = Self(rawValue: 1 << 8)
  static let eventDeleted = Self(rawValue: 1 << 9)
  static let eventRefreshed = Self(rawValue: 1 << 10)
  /// The context asked for the row to be kept in the coordinator's row cache.
  static let retainsRow = Self(rawValue: 1 << 11)
  /// `detectConflicts(for:)` was called since the last save.
  static let locked = Self(rawValue: 1 << 12)
  /// Deleted by a save (here or elsewhere); answers `isDeleted` while it is still registered.
  static let deletedElsewhere = Self(rawValue: 1 << 13)
  /// Inside `awakeFromFetch`, where values are set without counting as changes.
  static let awaking = Self(rawValue: 1 << 14)

  /// Asked for a key that may not exist; cleared when it does not.
  static let probed = Self(rawValue: 1 << 15)
  /// Inside the announcement of a change that the library makes itself; see `announcing`.
  static let announcing = Self(rawValue: 1 << 16)
  /// In the list that a prefetch is making.
  static let listed = Self(rawValue: 1 << 17)

  /// The class may have announcements of changes of its own; see ``ClassTraits``.
  static let hearsOfChanges = Self(rawValue: 1 << 18)
  /// The class may want to do something when it is saved.
  static let hearsOfSaves = Self(rawValue: 1 << 19)
  /// The class may have rules of its own.
  static let hasOwnRules = Self(rawValue: 1 << 20)

  /// What an object is between its insertion and the end of that event: whatever is written to it
  /// is taken back with it, and nobody has been told of it.
  static let fresh: Self = [.inserted, .eventInserted, .ownsSlots]

  static let pending: Self = [.inserted, .updated, .deleted]
  static let event: Self = [
    .inEvent, .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed,
  ]
}
