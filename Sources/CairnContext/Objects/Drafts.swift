import Synchronization

/// Counts drafts: objects outside of every context that have a part in a relationship.
///
/// While there are any, contexts keep which IDs new objects got at a save: a draft may lead to the old ones, also by
/// way of another draft.
enum Drafts {
  private static let count = Atomic<Int>(0)

  static var areAny: Bool { count.load(ordering: .relaxed) > 0 }

  /// An object without a context gets a part in a relationship, or had one as it left its context.
  static func add(_ object: ManagedObject) {
    if object.flags.contains(.isDraft) { return }
    object.flags.insert(.isDraft)
    count.wrappingAdd(1, ordering: .relaxed)
  }

  /// The object is put into a context, or freed.
  ///
  /// - Returns: Whether it was a draft.
  @discardableResult
  static func remove(_ object: ManagedObject) -> Bool {
    guard object.flags.contains(.isDraft) else { return false }
    object.flags.remove(.isDraft)
    count.wrappingSubtract(1, ordering: .relaxed)
    return true
  }
}
