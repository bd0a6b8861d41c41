import Glibc

/// Walks the events of one read from an inotify descriptor.
struct InotifyEvents: Sequence, IteratorProtocol {
  struct Event: Hashable {
    /// The kernel's number for the folder.
    let watch: Int32
    let mask: UInt32
    let name: String?

    /// Whether the kernel has dropped events.
    var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
    /// Whether the folder is no longer watched, or no longer where it was.
    var isEndOfFolder: Bool { mask & (UInt32(IN_IGNORED) | UInt32(IN_MOVE_SELF)) != 0 }
  }

  private var bytes: ArraySlice<UInt8>
  private static let headerSize = 16

  init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  mutating func next() -> Event? {
    guard bytes.count >= Self.headerSize else { return nil }
    let start = bytes.startIndex
    let watch = Int32(bitPattern: word(at: start))
    let mask = word(at: start + 4)
    let nameLength = Int(word(at: start + 12))
    let nameStart = start + Self.headerSize
    let name = bytes[nameStart..<Swift.min(nameStart + nameLength, bytes.endIndex)]
    bytes = bytes.dropFirst(Self.headerSize + nameLength)
    let text = name.prefix { $0 != 0 }
    return Event(
      watch: watch, mask: mask, name: text.isEmpty ? nil : String(decoding: text, as: UTF8.self))
  }

  private func word(at index: Int) -> UInt32 {
    // In the machine's order: all that Swift runs on have the low byte first.
    bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
