import Foundation

/// Records how to take actions back, and takes them back.
///
/// Foundation on Linux has no such class; this one has Foundation's members and notifications, but
/// for those that need selectors or invocations. Like Foundation's it belongs to one queue or
/// thread: that of the context it is given to, or the main one.
///
/// Registrations go to the innermost open group. With ``groupsByEvent`` (the default) the first
/// registration opens a group that ends with the event:
/// - inside a context's `perform`, at the end of the block;
/// - otherwise on a context's private queue, at the queue's next turn;
/// - on the main queue, at its next turn;
/// - on another thread, at the next turn of its run loop; if it runs none, when ``undo()`` is called.
open class UndoManager: NSObject {
  private var undoStack: [UndoGroup] = []
  private var redoStack: [UndoGroup] = []
  /// Open groups, the outermost first.
  private var open: [UndoGroup] = []
  /// The group that ends with the event, while it is open.
  private weak var eventGroup: UndoGroup?
  /// The event has ended, but a group inside its own is still open.
  private var isEventOver = false
  private var disabledCount = 0
  private var mode = Mode.recording
  private var isAtCheckpoint = false
  private var observers: [WeakUndoObserver] = []

  private enum Mode {
    case recording
    case undoing
    case redoing
  }

  public override init() { super.init() }

  // MARK: Grouping

  /// Whether registrations of one event go into one group by themselves.
  ///
  /// Default true.
  open var groupsByEvent = true
  /// In which modes a run loop ends the event.
  ///
  /// Default: the default mode.
  open var runLoopModes: [RunLoop.Mode] = [.default]
  /// How many groups are open.
  open var groupingLevel: Int { open.count }

  /// Opens a group inside the one that is open.
  ///
  /// With ``groupsByEvent`` the group of the event is opened first when there is none.
  open func beginUndoGrouping() {
    if open.isEmpty, groupsByEvent { openEventGroup() }
    push(UndoGroup())
  }

  /// Closes the innermost open group; traps when none is open.
  open func endUndoGrouping() {
    guard !open.isEmpty else {
      fatalError("endUndoGrouping was called without an open undo group.")
    }
    checkpoint()
    closeGroup()
    if isEventOver, open.count == 1, open[0] === eventGroup { endEvent() }
  }

  private func push(_ group: UndoGroup) {
    // Not when a top-level group is opened, as in Foundation.
    if !open.isEmpty { checkpoint() }
    open.append(group)
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func closeGroup() {
    guard let group = open.last else { return }
    let info = [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: group.isDiscardable)]
    post(.NSUndoManagerWillCloseUndoGroup, info)
    open.removeLast()
    if group === eventGroup { (eventGroup, isEventOver) = (nil, false) }
    if !group.isEmpty {
      if let outer = open.last {
        outer.add(group)
      } else {
        pushClosed(group)
      }
    }
    post(.NSUndoManagerDidCloseUndoGroup, info)
  }

  private func pushClosed(_ group: UndoGroup) {
    switch mode {
    case .undoing: redoStack.append(group)
    case .recording, .redoing: undoStack.append(group)
    }
    trim()
  }

  // MARK: Events

  private func openEventGroup() {
    let group = UndoGroup()
    eventGroup = group
    isEventOver = false
    push(group)
    EventEnding(manager: self).schedule(among: observers.compactMap(\.observer))
  }

  /// Closes the group of the event, if that is open.
  package func endEvent() {
    guard mode == .recording, let group = eventGroup else { return }
    if open.count == 1, open[0] === group {
      isEventOver = false
      checkpoint()
      closeGroup()
    } else {
      isEventOver = true
    }
  }

  // MARK: Registering

  /// Whether registrations are recorded.
  open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

  /// Registrations are ignored until ``enableUndoRegistration()`` was called as often.
  open func disableUndoRegistration() { disabledCount += 1 }

  /// Takes one ``disableUndoRegistration()`` back; traps when there is none.
  open func enableUndoRegistration() {
    guard disabledCount > 0 else {
      fatalError("enableUndoRegistration was called while undo registration was enabled.")
    }
    disabledCount -= 1
  }

  /// Records a block that takes back what was just done to the target.
  ///
  /// The target is not kept alive; when it has gone the block is skipped. Traps when no group is
  /// open and ``groupsByEvent`` is off.
  public func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping (TargetType) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if open.isEmpty {
      guard groupsByEvent else {
        // The program switched groups by event off and opened none.
        fatalError("registerUndo: must begin a group before registering undo.")
      }
      openEventGroup()
    }
    record(UndoAction(target: target, handler: handler))
  }

  private func record(_ action: UndoAction) {
    if mode == .recording { redoStack = [] }
    open.last?.add(action)
  }

  /// Records the changes of one event of a context, as a group of their own when none is open.
  ///
  /// With `folding` they join the group closed last: a save must not become a step of its own.
  package func register<Target: AnyObject>(
    _ target: Target, folding: Bool, handler: @escaping (Target) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    let action = UndoAction(target: target, handler: handler)
    if !open.isEmpty {
      record(action)
    } else if folding, let last = undoStack.last {
      redoStack = []
      last.add(action)
    } else if groupsByEvent {
      openEventGroup()
      record(action)
    } else {
      push(UndoGroup())
      record(action)
      closeGroup()
    }
  }

  // MARK: Undo and redo

  open var isUndoing: Bool { mode == .undoing }
  open var isRedoing: Bool { mode == .redoing }
  /// Whether there is anything to be undone; groups may have to be closed first.
  open var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.isEmpty } }
  /// Whether there is anything to be redone.
  ///
  /// Changes that are still to be registered are registered first, because they end that.
  open var canRedo: Bool {
    checkpoint()
    return !redoStack.isEmpty
  }
  /// How often ``undo()`` would do something.
  open var undoCount: Int { undoStack.count }
  /// How often ``redo()`` would do something.
  open var redoCount: Int { redoStack.count }

  /// Closes the last top-level group if it is open, and takes it back.
  ///
  /// Traps when groups inside it are open.
  open func undo() {
    checkpoint()
    if open.count == 1 { endUndoGrouping() }
    guard open.isEmpty else {
      // The program opened groups and closed too few.
      fatalError("undo was called with \(open.count) open undo groups; close them first.")
    }
    undoNestedGroup()
  }

  /// Takes back the last closed group, also one inside a group that is open.
  open func undoNestedGroup() {
    guard mode == .recording else { fatalError("undo was called while undoing or redoing.") }
    checkpoint()
    if let group = open.isEmpty ? undoStack.popLast() : open.last?.takeLastGroup() {
      perform(group, .undoing)
    }
  }

  /// Does again what was undone last.
  open func redo() {
    guard mode == .recording else { fatalError("redo was called while undoing or redoing.") }
    checkpoint()
    if open.count == 1 { endUndoGrouping() }
    guard let group = redoStack.popLast() else { return }
    perform(group, .redoing)
  }

  private func perform(_ group: UndoGroup, _ newMode: Mode) {
    post(
      newMode == .undoing ? .NSUndoManagerWillUndoChange : .NSUndoManagerWillRedoChange)
    let (outer, outerEvent) = (open, eventGroup)
    (open, eventGroup) = ([], nil)
    mode = newMode
    let opposite = UndoGroup(like: group)
    push(opposite)
    group.perform()
    // What the blocks changed in contexts belongs to the way back.
    checkpoint()
    while !open.isEmpty { closeGroup() }
    mode = .recording
    (open, eventGroup) = (outer, outerEvent)
    post(newMode == .undoing ? .NSUndoManagerDidUndoChange : .NSUndoManagerDidRedoChange)
  }

  // MARK: Limits

  /// How many top-level groups are kept; 0, the default, for all.
  open var levelsOfUndo = 0 { didSet { trim() } }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
    if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
  }

  /// Forgets everything, and enables registration.
  open func removeAllActions() {
    forgetAllActions()
    disabledCount = 0
  }

  /// Forgets everything.
  package func forgetAllActions() {
    (undoStack, redoStack) = ([], [])
    for group in open { group.removeAll() }
  }

  /// Forgets what was registered for one target.
  open func removeAllActions(withTarget target: Any) {
    let object = target as AnyObject
    for group in open { group.removeActions(of: object) }
    func rest(_ stack: [UndoGroup]) -> [UndoGroup] {
      for group in stack { group.removeActions(of: object) }
      return stack.filter { !$0.isEmpty }
    }
    undoStack = rest(undoStack)
    redoStack = rest(redoStack)
  }

  // MARK: Names and marks

  /// The group that the name and the marks of the last action belong to.
  package final var undoGroup: UndoGroup? {
    if let group = open.first, mode != .undoing, !group.isEmpty { return group }
    return undoStack.last
  }
  package final var redoGroup: UndoGroup? {
    if let group = open.first, mode == .undoing, !group.isEmpty { return group }
    return redoStack.last
  }
  /// The group that is named now: the one being recorded, or the last one.
  package final var namedGroup: UndoGroup? { open.first ?? undoStack.last }

  // MARK: Observers

  /// Contexts that register what is pending before groups open or close.
  package final func add(_ observer: any UndoObserver) {
    remove(observer)
    observers.append(WeakUndoObserver(observer: observer))
  }

  package final func remove(_ observer: any UndoObserver) {
    observers.removeAll { $0.observer == nil || $0.observer === observer }
  }

  private func checkpoint() {
    guard !isAtCheckpoint else { return }
    isAtCheckpoint = true
    defer { isAtCheckpoint = false }
    for observer in observers { observer.observer?.registerPendingChanges(with: self) }
    if mode == .recording { post(.NSUndoManagerCheckpoint) }
  }

  private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]? = nil) {
    NotificationCenter.default.post(name: name, object: self, userInfo: info)
  }
}
