// What stands behind this process's input, output and error streams.
import CPlatform
import Glibc

/// One of the three streams a process starts with.
public enum StandardStream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2

  /// Puts something in the place of the streams that this process was started without.
  ///
  /// What is opened next would get their numbers: results would go to the daemon's socket, or log lines into a store.
  /// Called before anything is opened.
  public static func fillClosed() {
    for stream in [input, output, error] where fcntl(stream.rawValue, F_GETFD) < 0 {
      // The wrong way round, so that it is noticed where something is read or written.
      _ = open("/dev/null", stream == .input ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether a person is looking at it.
  public var isTerminal: Bool { isatty(rawValue) == 1 }

  /// How many columns the terminal has; nil where there is no terminal.
  public var terminalWidth: Int? {
    let width = cplatform_terminal_width(rawValue)
    return width > 0 ? Int(width) : nil
  }

  /// How many rows the terminal has; nil where there is no terminal.
  public var terminalHeight: Int? {
    let height = cplatform_terminal_height(rawValue)
    return height > 0 ? Int(height) : nil
  }

  /// The device and inode behind the stream, as systemd writes them into `$JOURNAL_STREAM`.
  public var deviceAndInode: String? {
    var information = stat()
    guard fstat(rawValue, &information) == 0 else { return nil }
    return "\(information.st_dev):\(information.st_ino)"
  }

  /// Waits for bytes and reads them; none at the end, or when the stream cannot be read.
  public func read(limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, retryingInterrupts { Glibc.read(rawValue, buffer.baseAddress, limit) })
    }
  }

  /// Writes all bytes; false when the other side is gone or the disk is full.
  @discardableResult
  public func write(_ bytes: [UInt8]) -> Bool { failure(writing: bytes) == nil }

  /// Writes all bytes, or tells why not.
  public func failure(writing bytes: [UInt8]) -> ErrnoCode? {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
        return retryingInterrupts { Glibc.write(rawValue, rest.baseAddress, rest.count) }
      }
      if count > 0 {
        offset += count
      } else if count < 0, errno == EAGAIN {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, 1000)
      } else {
        // A call that writes nothing of something has no reason to give.
        return count < 0 ? .current : .ioFailure
      }
    }
    return nil
  }
}
