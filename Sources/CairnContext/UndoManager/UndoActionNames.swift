import Foundation

/// Names of actions for menus, and marks on them.
extension UndoManager {
  /// A key of a value that goes with an action.
  public struct UserInfoKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The name of the action that ``undo()`` takes back, or an empty string.
  public var undoActionName: String { undoGroup?.actionName ?? "" }
  /// The name of the action that ``redo()`` does again, or an empty string.
  public var redoActionName: String { redoGroup?.actionName ?? "" }

  /// Names the action that is being recorded, or the last one; an empty string removes the name.
  public func setActionName(_ actionName: String) { namedGroup?.actionName = actionName }

  /// `Undo`, with the action's name.
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// `Redo`, with the action's name.
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The title of a menu item that undoes an action with this name.
  public func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// The title of a menu item that does an action with this name again.
  public func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  /// Marks the action as one that may be lost when a document is closed.
  public func setActionIsDiscardable(_ discardable: Bool) {
    namedGroup?.isDiscardable = discardable
  }
  /// Whether the action to be undone is marked so.
  public var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }
  /// Whether the action to be redone is marked so.
  public var redoActionIsDiscardable: Bool { redoGroup?.isDiscardable ?? false }

  /// Keeps a value with the action.
  public func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
    namedGroup?.userInfo[key] = info
  }
  /// A value kept with the action to be undone.
  public func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
    undoGroup?.userInfo[key]
  }
  /// A value kept with the action to be redone.
  public func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
    redoGroup?.userInfo[key]
  }
}

/// A number in the user info of the notifications about closing: whether the group is discardable.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
/// The order in which Foundation's run loop ends events among its observers.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000

extension Notification.Name {
  /// A group is about to be opened inside another one or closed, or redo was asked for: register
  /// what is pending.
  public static let NSUndoManagerCheckpoint = Notification.Name(
    "NSUndoManagerCheckpointNotification")
  public static let NSUndoManagerWillUndoChange = Notification.Name(
    "NSUndoManagerWillUndoChangeNotification")
  public static let NSUndoManagerDidUndoChange = Notification.Name(
    "NSUndoManagerDidUndoChangeNotification")
  public static let NSUndoManagerWillRedoChange = Notification.Name(
    "NSUndoManagerWillRedoChangeNotification")
  public static let NSUndoManagerDidRedoChange = Notification.Name(
    "NSUndoManagerDidRedoChangeNotification")
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
}
