import CairnCoordinator
import CairnModel
import CairnStore

/// Gives a context its coordinator or its parent; setting one clears the other.
struct ContextAttachment {
  let context: ManagedObjectContext

  func attach(to coordinator: PersistentStoreCoordinator?) {
    detach()
    context.reading.source = coordinator.map {
      CoordinatorRows(coordinator: $0, context: context)
    }
    if let coordinator { ObjectClasses.learn(coordinator.managedObjectModel) }
    coordinator?.addObserver(context.commitListener)
    startMerging()
  }

  func attach(to parent: ManagedObjectContext?) {
    if let parent, parent.concurrencyType == .confinementConcurrencyType {
      // A context of the program's own making; data has no part in it.
      fatalError(
        "Parent NSManagedObjectContext must use either NSPrivateQueueConcurrencyType or NSMainQueueConcurrencyType."
      )
    }
    detach()
    parent?.registry.expectChildren()
    context.reading.source = parent.map(ParentRows.init)
    startMerging()
  }

  private func detach() {
    context.factory.forgetEntity()
    if let old = context.reading.source?.coordinator {
      old.removeObserver(context.commitListener)
    }
    replaceMerging(by: nil)
  }

  private func replaceMerging(by merging: AutomaticMerging?) {
    context.commitListener.merging.replace(by: merging)?.stop()
  }

  func setMergesAutomatically(_ isOn: Bool) {
    guard isOn else {
      context.commitListener.merging.isOn = false
      replaceMerging(by: nil)
      return
    }
    guard context.concurrencyType != .confinementConcurrencyType else {
      // The program made the context with that type itself; no archive of a context has it.
      fatalError(
        "automaticallyMergesChangesFromParent is not supported on contexts using NSConfinementConcurrencyType."
      )
    }
    context.commitListener.merging.isOn = true
    startMerging()
  }

  /// Begins to follow what the context is attached to, if it is to do that.
  private func startMerging() {
    guard context.commitListener.merging.isOn, context.reading.source != nil,
      context.commitListener.merging.current == nil
    else { return }
    replaceMerging(by: AutomaticMerging(context: context))
  }
}
