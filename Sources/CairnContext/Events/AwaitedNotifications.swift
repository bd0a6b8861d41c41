import Foundation

extension NotificationCenter {
  /// The notifications of a name that are posted from now on, one after the other.
  ///
  /// `for await note in center.notifications(named: .NSManagedObjectContextDidSave)` ends with its
  /// task. The sequence keeps notifications until the loop takes them: their objects may have changed by then.
  // Disfavoured, so that programs take Foundation's own on Linux once there is one.
  @_disfavoredOverload
  public func notifications(
    named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
  ) -> some AsyncSequence<Notification, Never> & Sendable {
    AwaitedNotifications(name, of: object, from: self)
  }
}

private struct AwaitedNotifications: AsyncSequence, Sendable {
  private let posted: AsyncStream<PostedNotification>

  init(_ name: Notification.Name, of object: AnyObject?, from center: NotificationCenter) {
    let (posted, continuation) = AsyncStream.makeStream(of: PostedNotification.self)
    let observer = PostObserver(
      token: center.addObserver(forName: name, object: object, queue: nil) {
        continuation.yield(PostedNotification(notification: $0))
      })
    continuation.onTermination = { _ in center.removeObserver(observer.token) }
    self.posted = posted
  }

  func makeAsyncIterator() -> Iterator { Iterator(posted: posted.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var posted: AsyncStream<PostedNotification>.Iterator

    mutating func next() async -> Notification? { await posted.next()?.notification }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
      await posted.next(isolation: actor)?.notification
    }
  }
}

// Unchecked: a notification does not change once it is posted, and its objects go on belonging to their queues.
private struct PostedNotification: @unchecked Sendable {
  let notification: Notification
}

// Unchecked: only the center looks into the token, under its lock.
private struct PostObserver: @unchecked Sendable {
  let token: any NSObjectProtocol
}
