import Foundation

/// Actions that are taken back together, newest first.
package final class UndoGroup {
  private enum Item {
    case action(UndoAction)
    case group(UndoGroup)
  }

  private var items: [Item] = []
  var actionName = ""
  var isDiscardable = false
  var userInfo: [UndoManager.UserInfoKey: Any] = [:]

  init() {}

  /// An empty group with another one's name and marks: what takes an undo back has its name.
  init(like other: UndoGroup) {
    actionName = other.actionName
    isDiscardable = other.isDiscardable
    userInfo = other.userInfo
  }

  var isEmpty: Bool { items.isEmpty }

  func add(_ action: UndoAction) { items.append(.action(action)) }

  func add(_ group: UndoGroup) {
    items.append(.group(group))
    // The menu shows the name of the outermost group.
    if actionName.isEmpty { actionName = group.actionName }
  }

  /// Takes the last item out if it is a group.
  func takeLastGroup() -> UndoGroup? {
    guard case .group(let group)? = items.last else { return nil }
    items.removeLast()
    return group
  }

  func perform() {
    for item in items.reversed() {
      switch item {
      case .action(let action): action.perform()
      case .group(let group): group.perform()
      }
    }
  }

  func removeAll() { items = [] }

  func removeActions(of target: AnyObject) {
    items = items.filter { item in
      switch item {
      case .action(let action): return !action.isAbout(target)
      case .group(let group):
        group.removeActions(of: target)
        return !group.isEmpty
      }
    }
  }
}

/// One registered block, and whom it is for.
struct UndoAction {
  private weak var target: AnyObject?
  private let block: (AnyObject) -> Void

  init<Target: AnyObject>(target: Target, handler: @escaping (Target) -> Void) {
    self.target = target
    block = { object in
      if let object = object as? Target { handler(object) }
    }
  }

  /// An action whose target has gone counts as one about any object, so that it is swept out.
  func isAbout(_ object: AnyObject) -> Bool { target == nil || target === object }

  func perform() {
    if let target { block(target) }
  }
}

/// What an undo manager needs from the contexts it serves.
package protocol UndoObserver: AnyObject {
  /// Register what is not registered yet.
  func registerPendingChanges(with manager: UndoManager)
  /// Run the block at the next turn of your queue, if the caller is on it.
  ///
  /// - Returns: Whether the block will run.
  func atNextTurn(_ block: @escaping () -> Void) -> Bool
}

struct WeakUndoObserver {
  weak var observer: (any UndoObserver)?
}

/// Ends an undo manager's event when the queue or thread gets to its next turn.
struct EventEnding {
  let manager: UndoManager

  func schedule(among observers: [any UndoObserver]) {
    let end: () -> Void = { [weak manager] in manager?.endEvent() }
    for observer in observers where observer.atNextTurn(end) { return }
    if ContextQueue.isOnMainQueue {
      let modes = manager.runLoopModes
      if modes.contains(.default) || modes.contains(.common) {
        // Reached by a main run loop as well as by `dispatchMain()`.
        let work = Transferred(value: end)
        DispatchQueue.main.async { work.value() }
      } else {
        perform(end, on: .main)
      }
    } else if RunLoop.current.currentMode != nil {
      perform(end, on: .current)
    }
  }

  private func perform(_ end: @escaping () -> Void, on loop: RunLoop) {
    let work = Transferred(value: end)
    loop.perform(inModes: manager.runLoopModes) { work.value() }
  }
}
