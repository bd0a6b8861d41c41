// A terminal that a program draws on and reads single keys from.
import Glibc
import Synchronization

/// Takes the terminal over until ``restore()``: a screen of its own, keys without waiting for a line.
///
/// One at a time. Whatever ends the program in the usual ways, Ctrl-C and SIGTERM included, is to be
/// noticed by ``isInterrupted``, so that the terminal is given back as it was.
public final class RawTerminal {
  /// Whether a signal has asked the program to end.
  private static let wasInterrupted = Atomic(false)

  private var former: termios?
  private var isRestored = false

  /// Takes over what standard output is; keys come from standard input where that is a terminal.
  public init() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in RawTerminal.wasInterrupted.store(true, ordering: .relaxed) }
    }
    var settings = termios()
    if tcgetattr(STDIN_FILENO, &settings) == 0 {
      former = settings
      settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
      tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    // The other screen, without a cursor.
    StandardStream.output.write(Array("\u{1B}[?1049h\u{1B}[?25l".utf8))
  }

  deinit { restore() }

  public var isInterrupted: Bool { Self.wasInterrupted.load(ordering: .relaxed) }

  /// Draws a whole screen; lines that are longer than it are the caller's fault.
  public func draw(_ lines: [String]) {
    let text = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    StandardStream.output.write(Array("\u{1B}[H\(text)\u{1B}[J".utf8))
  }

  /// The next key; nil when none was pressed.
  public func key(within milliseconds: Int32) -> UInt8? {
    var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard former != nil else {
      _ = poll(nil, 0, milliseconds)
      return nil
    }
    guard poll(&entry, 1, milliseconds) > 0 else { return nil }
    var byte: UInt8 = 0
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
  }

  /// Gives the terminal back as it was.
  public func restore() {
    guard !isRestored else { return }
    isRestored = true
    StandardStream.output.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8))
    if var former { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
  }
}
