/// An optional promise of a store: it tells whether what writes to it gets on.
package protocol WriterReporting: AnyObject, Sendable {
  /// What waits for the one connection that writes, or uses it.
  var writerWork: QueueWork { get }
}
