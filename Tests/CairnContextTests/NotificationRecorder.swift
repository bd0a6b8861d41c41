// Keeps the notifications that one context posts.
import CairnContext
import CairnModel
import Foundation

// Unchecked: written on the context's queue only, and read there.
final class NotificationRecorder: @unchecked Sendable {
  private(set) var notifications: [Notification] = []
  private var tokens: [any NSObjectProtocol] = []

  init(_ context: ManagedObjectContext, _ names: Notification.Name...) {
    for name in names {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
          [weak self] in self?.notifications.append($0)
        })
    }
  }

  deinit { stop() }

  func stop() {
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    tokens = []
  }

  /// The last notification's set of objects under a key.
  func objects(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObject> {
    notifications.last?.userInfo?[key.rawValue] as? Set<ManagedObject> ?? []
  }

  /// The last notification's set of IDs under a key.
  func ids(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObjectID> {
    notifications.last?.userInfo?[key.rawValue] as? Set<ManagedObjectID> ?? []
  }
}
