// A program that writes to a store with SQL of its own.
import GRDB

extension DatabaseQueue {
  /// Opens a database beside programs that may be writing to it just then, and waits for them; a transaction may stay
  /// open for longer than a call.
  public convenience init(patient path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    configuration.allowsUnsafeTransactions = true
    try self.init(path: path, configuration: configuration)
  }
}
