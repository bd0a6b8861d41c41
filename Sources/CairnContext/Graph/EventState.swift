/// How far the current event of a context is, and what happened in it.
struct EventState {
  /// What each change replaced.
  var log = EventLog()
  /// While delete rules are followed at the end of the event.
  var isProcessing = false
  /// Whether the end of the event is waiting in the main queue.
  var isProcessingScheduled = false
  /// The property whose change the library is announcing.
  var announcedKey: String?
  /// The sets of the last did-change notification, while a save may post the same again.
  var announcedSets: AnnouncedSets?
  var isMerging = false
  /// Objects that were deleted elsewhere, from the merge of that until the next event is processed.
  var mergedDeletions: [ManagedObject] = []
}

/// The sets that a save has put into notifications.
///
/// What changed in its last event is most often what it writes, and making a set costs more than
/// finding that out.
struct AnnouncedSets {
  struct Entry {
    let objects: [ManagedObject]
    let set: Set<ManagedObject>
  }
  var inserted: Entry?
  var updated: Entry?
  var deleted: Entry?
}
