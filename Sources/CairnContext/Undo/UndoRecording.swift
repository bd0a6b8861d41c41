import CairnModel
import Foundation

/// A context's side of undo: each event becomes one registration with its undo manager.
extension ManagedObjectContext {
  /// Registers what the event changed.
  final func recordUndo(_ event: ArraySlice<EventLog.Entry>) {
    guard recordsUndo, !event.isEmpty, !isResolvingConflicts, let undoManager,
      undoManager.isUndoRegistrationEnabled,
      let record = UndoRecord(event, holds: undoHolds)
    else { return }
    undoManager.register(self, folding: isSaving) { context in
      UndoReplay(context: context).takeBack(record)
    }
  }

  /// Ends the event of the context and of its undo manager.
  final func endEvent() {
    processPendingChanges()
    undoManager?.endEvent()
  }

  final func replaceUndoManager(_ old: UndoManager?) {
    guard old !== undoManager else { return }
    old?.remove(self)
    old?.removeAllActions(withTarget: self)
    // What was changed before is nothing to be taken back.
    recordsUndo = false
    if !pending.event.isEmpty { processPendingChanges() }
    undoManager?.add(self)
    recordsUndo = undoManager != nil
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
