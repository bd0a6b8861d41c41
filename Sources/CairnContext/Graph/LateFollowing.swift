// Ordered sets that a program holds follow single changes of their members at once, and many
// changes together.

/// Which ordered sets of a context are behind the members that they show.
///
/// Foundation's storage is one list, in which each change moves half the members. While the library
/// itself changes many, the program does not see the steps between: the sets follow once, at the end.
struct LateFollowing {
  private var sets: [any MemberFollower] = []
  private var depth = 0
  /// Whether the program has looked in between, as it may do again.
  private var isWatched = false
  /// Sets that were handed out in this event, kept so that asking again costs nothing.
  var handedOut: [any MemberFollower] = []

  /// Whether a set may follow later; it is remembered then.
  mutating func postpones(_ set: any MemberFollower) -> Bool {
    guard isOpen else { return false }
    sets.append(set)
    return true
  }

  fileprivate mutating func begin() { depth += 1 }

  fileprivate mutating func end() -> [any MemberFollower] {
    depth -= 1
    if depth > 0 { return [] }
    isWatched = false
    return take()
  }

  fileprivate var isOpen: Bool { depth > 0 && !isWatched }

  fileprivate mutating func interrupt() -> [any MemberFollower] {
    isWatched = true
    return take()
  }

  private mutating func take() -> [any MemberFollower] {
    defer { sets = [] }
    return sets
  }
}

extension ManagedObjectContext {
  /// Changes many members at once.
  final func changingMany<Result>(_ change: () throws -> Result) rethrows -> Result {
    lateFollowing.begin()
    defer { for set in lateFollowing.end() { set.catchUp() } }
    return try change()
  }

  /// A method of the program is about to be called.
  final func bringOrderedSetsUpToDate() {
    guard lateFollowing.isOpen else { return }
    for set in lateFollowing.interrupt() { set.catchUp() }
  }
}

extension ManagedObject {
  /// Changes many members of the object's relationships at once.
  final func changingMany(_ change: () -> Void) {
    guard let context = registry?.context else { return change() }
    context.changingMany(change)
  }
}
