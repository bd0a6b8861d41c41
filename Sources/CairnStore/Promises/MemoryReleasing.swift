/// An optional promise of a store: it gives back memory, here or at a server, that only makes it faster.
public protocol MemoryReleasing: AnyObject, Sendable {
  /// Gives up what is kept of the file, which is read again when it is needed, or connections that rest.
  func releaseMemory()
}
