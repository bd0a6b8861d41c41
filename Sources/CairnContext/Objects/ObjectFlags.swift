/// What a context knows about one of its objects, in one word.
@usableFromInline
struct ObjectFlags: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt32

  @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Not saved yet.
  @inlinable static var inserted: Self { Self(rawValue: 1 << 0) }
  /// Changed since it was fetched or saved.
  ///
  /// Never together with `inserted`.
  static let updated = Self(rawValue: 1 << 1)
  /// To be deleted with the next save.
  static let deleted = Self(rawValue: 1 << 2)
  /// Inserted and deleted again without a save between; detached at the end of the event.
  static let discarded = Self(rawValue: 1 << 3)
  /// The slots belong to the object and are not those of its snapshot.
  @inlinable static var ownsSlots: Self { Self(rawValue: 1 << 4) }
  /// The row was gone when the fault was fired.
  static let inaccessible = Self(rawValue: 1 << 5)
  /// Listed among the objects of the current event.
  static let inEvent = Self(rawValue: 1 << 6)
  @inlinable static var eventInserted: Self { Self(rawValue: 1 << 7) }
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
  @inlinable static var awaking: Self { Self(rawValue: 1 << 14) }

  /// Asked for a key that may not exist; cleared when it does not.
  static let probed = Self(rawValue: 1 << 15)
  /// Inside the announcement of a change that the library makes itself; see `announcing`.
  static let announcing = Self(rawValue: 1 << 16)
  /// In the list that a prefetch is making.
  static let listed = Self(rawValue: 1 << 17)

  /// The class may override the announcements of changes; see ``ClassHooks``.
  @inlinable static var hasChangeHooks: Self { Self(rawValue: 1 << 18) }
  /// The class may override what is called at a save.
  static let hasSaveHooks = Self(rawValue: 1 << 19)
  /// The class may override what validation calls.
  static let hasRuleHooks = Self(rawValue: 1 << 20)
  /// The class may override what is called at a fetch.
  static let hasFetchHook = Self(rawValue: 1 << 21)
  /// The class may override what is called at a deletion.
  static let hasDeletionHook = Self(rawValue: 1 << 22)

  /// The class may have properties of its own that key-value access finds; see ``ClassProperties``.
  static let hasClassProperties = Self(rawValue: 1 << 24)

  /// Counted among the ``Drafts``.
  static let isDraft = Self(rawValue: 1 << 25)

  /// Deleted by a cascade that knew key and version only, and did not need its values.
  static let deletedUnread = Self(rawValue: 1 << 23)

  /// What an object is between its insertion and the end of that event: whatever is written to it
  /// is taken back with it, and the context has told no observer of it.
  @inlinable static var fresh: Self {
    Self(rawValue: inserted.rawValue | eventInserted.rawValue | ownsSlots.rawValue)
  }

  /// Whether an attribute's value can be put into its slot without further ado: the object is
  /// fresh, and its class overrides no announcement.
  @inlinable var takeValuesQuietly: Bool {
    let asked = Self.fresh.rawValue | Self.awaking.rawValue | Self.hasChangeHooks.rawValue
    return rawValue & asked == Self.fresh.rawValue
  }

  static let pending: Self = [.inserted, .updated, .deleted]
  /// What no object keeps that has left its context.
  static let untilDetached: Self = [
    .inserted, .updated, .deleted, .retainsRow, .discarded, .deletedElsewhere, .locked,
  ]
  static let event: Self = [
    .inEvent, .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed,
  ]
}

extension ManagedObject {
  /// Whether a cascade has deleted the object by its key, and it is a fault still.
  ///
  /// No to-one relationship of such an object has to be followed.
  final var isUnread: Bool { slots == nil && flags.contains(.deletedUnread) }
}
