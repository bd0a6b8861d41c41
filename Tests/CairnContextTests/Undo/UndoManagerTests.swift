// The undo manager by itself: groups, names, limits, notifications (Foundation's documentation).
import CairnContext
import Foundation
import Testing

/// A number that is changed with undo.
final class Counter {
  var value = 0

  func add(_ amount: Int, _ manager: UndoManager) {
    value += amount
    manager.registerUndo(withTarget: self) { [unowned manager] in
      $0.add(-amount, manager)
    }
  }
}

/// Rules of Foundation's `UndoManager`.
@Suite struct UndoManagerTests {
  private func manual() -> (UndoManager, Counter) {
    let manager = UndoManager()
    manager.groupsByEvent = false
    return (manager, Counter())
  }

  private func group(_ manager: UndoManager, _ body: () -> Void) {
    manager.beginUndoGrouping()
    body()
    manager.endUndoGrouping()
  }

  @Test func undoTakesTheLastGroupBackAndRedoDoesItAgain() {
    let (manager, counter) = manual()
    group(manager) {
      counter.add(1, manager)
      counter.add(2, manager)
    }
    group(manager) { counter.add(10, manager) }
    #expect(manager.canUndo && !manager.canRedo && counter.value == 13)
    manager.undo()
    #expect(counter.value == 3 && manager.canRedo)
    manager.undo()
    #expect(counter.value == 0 && !manager.canUndo)
    manager.redo()
    #expect(counter.value == 3)
    manager.redo()
    #expect(counter.value == 13 && !manager.canRedo)
    manager.undo()
    #expect(counter.value == 3)
  }

  @Test func actionsOfAGroupAreTakenBackNewestFirst() {
    let (manager, counter) = manual()
    var order: [Int] = []
    group(manager) {
      for number in 1...3 {
        manager.registerUndo(withTarget: counter) { _ in order.append(number) }
      }
    }
    manager.undo()
    #expect(order == [3, 2, 1])
  }

  @Test func aNewActionEndsRedo() {
    let (manager, counter) = manual()
    group(manager) { counter.add(1, manager) }
    manager.undo()
    group(manager) { counter.add(5, manager) }
    #expect(!manager.canRedo && manager.redoCount == 0)
    manager.redo()
    #expect(counter.value == 5)
  }

  @Test func anInnerGroupGoesWithTheOuterOne() {
    let (manager, counter) = manual()
    group(manager) {
      counter.add(1, manager)
      group(manager) {
        #expect(manager.groupingLevel == 2)
        counter.add(2, manager)
      }
    }
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(counter.value == 0)
    manager.redo()
    #expect(counter.value == 3)
  }

  @Test func undoNestedGroupTakesOneInnerGroupBack() {
    let (manager, counter) = manual()
    manager.beginUndoGrouping()
    counter.add(1, manager)
    group(manager) { counter.add(2, manager) }
    manager.undoNestedGroup()
    #expect(counter.value == 1 && manager.groupingLevel == 1)
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func undoClosesTheTopLevelGroup() {
    let (manager, counter) = manual()
    manager.beginUndoGrouping()
    counter.add(1, manager)
    manager.undo()
    #expect(counter.value == 0 && manager.groupingLevel == 0)
  }

  @Test func anEmptyGroupIsNoStep() {
    let (manager, counter) = manual()
    group(manager) { counter.add(1, manager) }
    group(manager) {}
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func byEventTheFirstRegistrationOpensAGroup() {
    let manager = UndoManager()
    let counter = Counter()
    #expect(manager.groupsByEvent && manager.groupingLevel == 0)
    counter.add(1, manager)
    counter.add(2, manager)
    #expect(manager.groupingLevel == 1)
    manager.beginUndoGrouping()
    #expect(manager.groupingLevel == 2)
    counter.add(4, manager)
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func byEventAGroupOpenedByHandStandsInsideThatOfTheEvent() {
    let manager = UndoManager()
    manager.beginUndoGrouping()
    #expect(manager.groupingLevel == 2)
    manager.endUndoGrouping()
    #expect(manager.groupingLevel == 1)
  }

  @Test @MainActor func onTheMainQueueAnEventEndsWithTheTurn() async {
    let manager = UndoManager()
    let counter = Counter()
    counter.add(1, manager)
    #expect(manager.groupingLevel == 1)
    let deadline = Date(timeIntervalSinceNow: 120)
    while manager.groupingLevel > 0, Date() < deadline { await Task.yield() }
    #expect(manager.groupingLevel == 0)
    counter.add(2, manager)
    manager.undo()
    #expect(counter.value == 1)
  }

  @Test func onAThreadWithARunLoopAnEventEndsWithTheTurn() {
    let levels = LockedValue<[Int]>([])
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let manager = LockedValue(UndoManager())
      RunLoop.current.perform {
        Counter().add(1, manager.value)
        levels.append(manager.value.groupingLevel)
        RunLoop.current.perform { levels.append(manager.value.groupingLevel) }
      }
      let deadline = Date(timeIntervalSinceNow: 120)
      while levels.value.count < 2, Date() < deadline {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
      }
      done.signal()
    }
    thread.start()
    #expect(done.wait(timeout: .now() + 240) == .success)
    #expect(levels.value == [1, 0])
  }

  @Test func levelsOfUndoForgetTheOldestGroups() {
    let (manager, counter) = manual()
    manager.levelsOfUndo = 2
    for _ in 0..<5 { group(manager) { counter.add(1, manager) } }
    #expect(manager.undoCount == 2)
    while manager.canUndo { manager.undo() }
    #expect(counter.value == 3)
    for _ in 0..<2 { manager.redo() }
    manager.levelsOfUndo = 1
    #expect(manager.undoCount == 1)
  }

  @Test func disablingCountsAndRegistersNothing() {
    let (manager, counter) = manual()
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    #expect(!manager.isUndoRegistrationEnabled)
    counter.add(1, manager)
    manager.enableUndoRegistration()
    #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
  }

  @Test func removeAllActionsForgetsAndEnables() {
    let (manager, counter) = manual()
    group(manager) { counter.add(1, manager) }
    group(manager) { counter.add(1, manager) }
    manager.undo()
    manager.disableUndoRegistration()
    manager.removeAllActions()
    #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
  }

  @Test func removeAllActionsWithTargetLeavesTheOthers() {
    let (manager, a) = manual()
    let b = Counter()
    group(manager) {
      a.add(1, manager)
      b.add(1, manager)
    }
    group(manager) { a.add(1, manager) }
    manager.removeAllActions(withTarget: a)
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(a.value == 2 && b.value == 0)
  }

  @Test func targetsAreNotKeptAlive() {
    let (manager, _) = manual()
    var counter: Counter? = Counter()
    weak let gone = counter
    group(manager) { counter?.add(1, manager) }
    counter = nil
    #expect(gone == nil)
    manager.undo()
    #expect(!manager.canRedo)
  }

  @Test func namesFollowTheirActionThroughUndoAndRedo() {
    let (manager, counter) = manual()
    #expect(manager.undoActionName == "" && manager.undoMenuItemTitle == "Undo")
    group(manager) {
      counter.add(1, manager)
      manager.setActionName("Adding")
    }
    group(manager) {
      counter.add(1, manager)
      group(manager) {
        counter.add(1, manager)
        manager.setActionName("Doubling")
      }
    }
    #expect(manager.undoActionName == "Doubling")
    #expect(manager.undoMenuItemTitle == "Undo Doubling" && manager.redoMenuItemTitle == "Redo")
    manager.undo()
    #expect(manager.undoActionName == "Adding" && manager.redoMenuItemTitle == "Redo Doubling")
    manager.redo()
    #expect(manager.undoActionName == "Doubling")
    manager.setActionName("")
    #expect(manager.undoMenuItemTitle == "Undo")
  }

  @Test func marksFollowTheirActionToo() {
    let (manager, counter) = manual()
    let key = UndoManager.UserInfoKey(rawValue: "why")
    group(manager) {
      counter.add(1, manager)
      manager.setActionIsDiscardable(true)
      manager.setActionUserInfoValue("test", forKey: key)
    }
    #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
    manager.undo()
    #expect(manager.redoActionIsDiscardable && !manager.undoActionIsDiscardable)
    #expect(manager.redoActionUserInfoValue(forKey: key) as? String == "test")
  }

  @Test func itTellsWhatItIsDoing() {
    let (manager, counter) = manual()
    var seen: [String] = []
    group(manager) {
      manager.registerUndo(withTarget: counter) { counter in
        seen.append("\(manager.isUndoing) \(manager.isRedoing)")
        manager.registerUndo(withTarget: counter) { _ in
          seen.append("\(manager.isUndoing) \(manager.isRedoing)")
        }
      }
    }
    manager.undo()
    manager.redo()
    #expect(seen == ["true false", "false true"] && !manager.isUndoing && !manager.isRedoing)
  }

  @Test func notificationsHaveFoundationsNamesAndOrder() {
    let (manager, counter) = manual()
    var names: [String] = []
    let all: [Notification.Name] = [
      .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    var tokens: [any NSObjectProtocol] = []
    let recorder = NameRecorder { names.append($0) }
    for name in all {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
          recorder.note($0)
        })
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    group(manager) {
      counter.add(1, manager)
      manager.setActionIsDiscardable(true)
    }
    #expect(
      names == ["DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup 1", "DidCloseUndoGroup 1"])
    names = []
    manager.undo()
    #expect(
      names.filter { $0 != "Checkpoint" } == [
        "WillUndoChange", "DidOpenUndoGroup", "WillCloseUndoGroup 1", "DidCloseUndoGroup 1",
        "DidUndoChange",
      ])
    #expect(names.first == "Checkpoint")
    names = []
    _ = manager.canRedo
    #expect(names == ["Checkpoint"])
    manager.redo()
    #expect(names.contains("WillRedoChange") && names.last == "DidRedoChange")
  }

  @Test func misuseTraps() async {
    await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
    await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
    await #expect(processExitsWith: .failure) {
      let manager = UndoManager()
      manager.groupsByEvent = false
      manager.registerUndo(withTarget: manager) { _ in }
    }
  }
}

// Unchecked: used on the test's thread only.
private final class NameRecorder: @unchecked Sendable {
  private let body: (String) -> Void
  init(_ body: @escaping (String) -> Void) { self.body = body }

  func note(_ notification: Notification) {
    var name = notification.name.rawValue
    name = name.replacingOccurrences(of: "NSUndoManager", with: "")
    name = name.replacingOccurrences(of: "Notification", with: "")
    if let flag = notification.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? NSNumber {
      name += " \(flag.intValue)"
    }
    body(name)
  }
}

/// A value that two threads share.
// Unchecked: the value is only touched under the lock.
final class LockedValue<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value
  init(_ value: Value) { stored = value }
  var value: Value { lock.withLock { stored } }
  func with(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

extension LockedValue where Value == [Int] {
  func append(_ number: Int) { with { $0.append(number) } }
}
