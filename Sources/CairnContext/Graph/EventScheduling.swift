import CairnModel

/// When an event of a context begins, by a change of an object, and when it ends by itself.
extension ManagedObjectContext {
  /// An object was changed through its properties.
  final func noteUpdate(of object: ManagedObject) {
    confinement.check()
    if object.flags.isDisjoint(with: [.inserted, .deleted, .discarded, .updated]) {
      pending.mark(object, as: .updated)
      scheduleProcessing()
    }
    if object.flags.isDisjoint(with: [.eventUpdated]) {
      pending.note(object, .eventUpdated)
      scheduleProcessing()
    }
  }

  /// Processes what was merged after the block that merged it has ended, so that the block can look.
  final func scheduleEndOfMerge() {
    if concurrencyType == .confinementConcurrencyType { return }
    let reference = reference
    confinement.async { reference.context?.endEvent() }
  }

  /// On the main queue an event ends by itself: changes are processed in the next turn.
  final func scheduleProcessing() {
    guard concurrencyType == .mainQueueConcurrencyType, !event.isProcessingScheduled else { return }
    event.isProcessingScheduled = true
    let reference = reference
    confinement.async {
      guard let context = reference.context else { return }
      context.event.isProcessingScheduled = false
      context.endEvent()
    }
  }

  /// Ends the event of the context and of its undo manager.
  final func endEvent() {
    processPendingChanges()
    undoManager?.endEvent()
  }
}
