/// A capability of a store: it tells whether what writes to it gets on, and how long its commits take.
package protocol WriterReporting: AnyObject, Sendable {
  /// What waits for the one connection that writes, or uses it.
  var writerWork: QueueWork { get }
  /// How long its commits took, those of this process.
  var commitTimes: CommitTimes { get }
}
