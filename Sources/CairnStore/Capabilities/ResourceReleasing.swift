/// A capability of a store: it gives back memory, connections that rest, and the room of what
/// was deleted.
public protocol ResourceReleasing: AnyObject, Sendable {
  /// Gives up what only makes the store faster: what is kept of its file and is read again when it is needed, or
  /// connections that rest.
  func releaseMemory()
  /// Gives back some room in one short write, if there is so much that the store would not soon use it
  /// again.
  ///
  /// - Parameter limit: At most so many bytes.
  /// - Returns: The bytes that were given back; 0 when there is nothing more to do, as by default.
  func releaseSpace(atMost limit: Int64) throws -> Int64
  /// Moves what was written into the store's file, as far as readers allow, so that the file has the
  /// size that it needs; does not wait for them.
  ///
  /// - Returns: False where a reader, or another that moves the log, kept a part from being moved or the
  ///   file from being cut: it is worth another try later. True where nothing is left to do, as by default.
  func settleFile() throws -> Bool
  /// Has what waits for another machine fail soon; the store can only be closed afterwards. Does nothing by default.
  func abandonWaits()
}

extension ResourceReleasing {
  public func releaseSpace(atMost limit: Int64) throws -> Int64 { 0 }
  public func settleFile() throws -> Bool { true }
  public func abandonWaits() {}
}
