import CairnCoordinator
import CairnModel
import CairnStore

/// Gives a context its coordinator or its parent; setting one clears the other.
struct ContextAttachment {
  let context: ManagedObjectContext

  func attach(to coordinator: PersistentStoreCoordinator?) {
    detach()
    context.rowSource = coordinator.map {
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
    context.rowSource = parent.map(ParentRows.init)
    startMerging()
  }

  private func detach() {
    context.recentEntity = nil
    if let old = (context.rowSource as? CoordinatorRows)?.coordinator {
      old.removeObserver(context.commitListener)
    }
    replaceMerging(by: nil)
  }

  private func replaceMerging(by merging: AutomaticMerging?) {
    context.merging.replace(by: merging)?.stop()
  }

  func setMergesAutomatically(_ isOn: Bool) {
    guard isOn else {
      context.isToMergeAutomatically = false
      replaceMerging(by: nil)
      return
    }
    guard context.concurrencyType != .confinementConcurrencyType else {
      // The program made the context with that type itself.
      fatalError(
        "automaticallyMergesChangesFromParent is not supported on contexts using NSConfinementConcurrencyType."
      )
    }
    context.isToMergeAutomatically = true
    startMerging()
  }

  /// Begins to follow what the context is attached to, if it is to do that.
  private func startMerging() {
    guard context.isToMergeAutomatically, context.rowSource != nil,
      context.merging.current == nil
    else { return }
    replaceMerging(by: AutomaticMerging(context: context))
  }
}

extension ManagedObjectContext {
  /// The model of the coordinator, or a trap.
  final var requiredModel: ManagedObjectModel {
    guard let coordinator = persistentStoreCoordinator else {
      // The program uses a context that it never attached; data has no part in it.
      fatalError("The context has no persistent store coordinator; set one, or a parent, first.")
    }
    return coordinator.managedObjectModel
  }

  /// How old a cached row may be: nil for any age.
  final var maximumRowAge: Double? { stalenessInterval < 0 ? nil : stalenessInterval }

  /// Runs what a child asks of its parent, on the parent's queue.
  final func serve<Result>(_ block: () throws -> Result) rethrows -> Result {
    try confinement.sync(for: .ancestor) {
      try CurrentContext.$context.withValue(self) { try block() }
    }
  }

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
    guard concurrencyType == .mainQueueConcurrencyType, !isProcessingScheduled else { return }
    isProcessingScheduled = true
    let reference = reference
    confinement.async {
      guard let context = reference.context else { return }
      context.isProcessingScheduled = false
      context.endEvent()
    }
  }
}
