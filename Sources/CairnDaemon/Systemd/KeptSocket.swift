// The control socket in the care of systemd, where no socket unit makes it.
import CairnPlatform

/// Makes the control socket, and has systemd keep it (`FileDescriptorStoreMax=`).
///
/// Callers then wait at it while a daemon that crashed is started again, as they do with a socket unit.
/// Without systemd nothing keeps it, which makes no difference to a daemon that runs.
struct KeptSocket: Sendable {
  /// The name in systemd's store; another than that of the socket unit, since both may be passed in.
  static let name = "kept-control"

  /// What an earlier process had systemd keep.
  let passed: OwnedDescriptor?
  let notifier: ServiceNotifier

  /// The socket at `path`: the kept one where it still lies there, a new one otherwise.
  ///
  /// - Throws: ``CairnPlatform/PlatformError``: another process serves the path, or the file cannot be made
  ///   or given to the group.
  func listener(at path: String, mode: UInt32, group: UInt32?) throws -> UnixListener {
    if let passed {
      if let kept = try UnixListener(adopting: passed, lyingAt: path) {
        try UnixListener.give(path, mode: mode, group: group)
        return kept
      }
      // Its place was changed, or its file is gone: callers cannot reach it any more.
      forget()
    }
    let made = try UnixListener(path: path, mode: mode, group: group)
    notifier.keep(made.descriptor, as: Self.name)
    return made
  }

  /// The daemon calls this when callers need not wait: it stops as it should, or a socket unit has another socket.
  func forget() {
    passed?.close()
    notifier.forget(Self.name)
  }
}
