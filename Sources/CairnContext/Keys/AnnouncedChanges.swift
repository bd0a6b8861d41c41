import CairnModel

// Changes that the library makes for a program, between the announcements that a subclass can
// override.

extension ManagedObject {
  /// Whether the class has methods of its own that announcements of changes call.
  final var hasListeners: Bool { flags.contains(.hasChangeHooks) }

  /// Changes a property between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
  ///
  /// The change keeps its own records, so the library's implementations of the two do nothing then.
  final func announcing(_ key: String, _ change: () -> Void) {
    guard hasListeners else { return change() }
    silently(key) { willChangeValue(forKey: key) }
    change()
    silently(key) { didChangeValue(forKey: key) }
  }

  /// Adds members to a to-many relationship, or removes them.
  final func announcing(
    _ kind: KeyValueSetMutationKind, _ members: [ManagedObject], toMany index: Int,
    _ change: () -> Void
  ) {
    guard hasListeners else { return change() }
    let key = layout.toManys[index].name
    if layout.toManys[index].isOrdered { return announcing(key, change) }
    let objects = Set(members.map(AnyHashable.init))
    silently(key) { willChangeValue(forKey: key, withSetMutation: kind, using: objects) }
    change()
    silently(key) { didChangeValue(forKey: key, withSetMutation: kind, using: objects) }
  }

  /// Whether the library announces the change of this property itself.
  final func isAnnouncing(_ key: String) -> Bool {
    guard flags.contains(.announcing) else { return false }
    return registry?.context.map { $0.event.announcedKey == key } ?? true
  }

  /// Runs an announcement without its effect in the library.
  ///
  /// It may change other properties.
  private func silently(_ key: String, _ announce: () -> Void) {
    let context = registry?.context
    let outerKey = context?.event.announcedKey
    let isNested = flags.contains(.announcing)
    context?.event.announcedKey = key
    flags.insert(.announcing)
    announce()
    if !isNested { flags.remove(.announcing) }
    context?.event.announcedKey = outerKey
  }

  // MARK: Relationships

  final func changeDestination(_ destination: ManagedObject?, at slot: Int) {
    announcing(layout.slots[slot].name) {
      InverseMaintenance.setToOne(of: self, at: slot, to: destination)
    }
  }

  final func changeMembers(_ members: [ManagedObject], toMany index: Int) {
    announcing(.set, members, toMany: index) {
      InverseMaintenance.setMembers(of: self, at: index, to: members)
    }
  }

  final func insertMember(_ member: ManagedObject, toMany index: Int, at position: Int? = nil) {
    announcing(.union, [member], toMany: index) {
      InverseMaintenance.add(member, to: self, at: index, position: position)
    }
  }

  final func removeMember(_ member: ManagedObject, toMany index: Int) {
    announcing(.minus, [member], toMany: index) {
      InverseMaintenance.removeMember(member, of: self, at: index)
    }
  }
}
