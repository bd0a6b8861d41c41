/// How far the copying of a store is, for a person who waits for it.
///
/// A store's kind reports while it copies; it takes no argument for that, since most copies have no listener.
package enum CopyProgress {
  /// Takes how many bytes are copied, of how many.
  package typealias Listener = @Sendable (_ done: Int, _ total: Int) -> Void
  @TaskLocal private static var listener: Listener?

  /// Whether there is a listener; copying in steps costs a little more than all at once.
  package static var isWanted: Bool { listener != nil }

  /// Tells the listener of the calling thread's work.
  package static func report(done: Int, total: Int) { listener?(done, total) }

  /// Runs work that copies stores on the calling thread.
  package static func listening<Result>(
    _ listener: @escaping Listener, to work: () throws -> Result
  ) rethrows -> Result { try $listener.withValue(listener, operation: work) }
}
