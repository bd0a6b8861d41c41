import CairnModel
import Foundation

/// Records each event of a context with its undo manager, one registration an event.
// Belongs to the queue of the context, like the undo manager.
final class UndoRecorder: EventRecording {
  fileprivate(set) var isRecording = false
  private(set) var isReplaying = false
  private let holds = UndoHolds()

  func record(_ event: ArraySlice<EventLog.Entry>, of context: ManagedObjectContext) {
    guard isRecording, !event.isEmpty, !context.nextSave.isResolvingConflicts,
      let undoManager = context.undoManager, undoManager.isUndoRegistrationEnabled,
      let record = UndoRecord(event, holds: holds)
    else { return }
    undoManager.register(context, folding: context.nextSave.isRunning) { [self] context in
      isReplaying = true
      UndoReplay(context: context).takeBack(record)
      isReplaying = false
    }
  }

  func holds(_ object: ManagedObject) -> Bool { holds.contains(object) }
}

extension ManagedObjectContext {
  /// The program has set another undo manager.
  final func replaceUndoManager(_ old: UndoManager?) {
    guard old !== undoManager else { return }
    let new = recorder as? UndoRecorder ?? UndoRecorder()
    recorder = new
    old?.remove(self)
    old?.removeAllActions(withTarget: self)
    // What was changed before is nothing to be taken back.
    new.isRecording = false
    if !pending.event.isEmpty { processPendingChanges() }
    undoManager?.add(self)
    new.isRecording = undoManager != nil
  }
}

extension ManagedObjectContext: UndoObserver {
  package func registerPendingChanges(with manager: UndoManager) { processPendingChanges() }

  package func atNextTurn(_ block: @escaping () -> Void) -> Bool {
    guard confinement.isCurrent, concurrencyType != .confinementConcurrencyType else {
      return false
    }
    confinement.async { [reference] in
      // Without the context the queue has no say in the undo manager any more.
      if reference.context != nil { block() }
    }
    return true
  }
}
