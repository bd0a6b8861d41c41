// The messages of PostgreSQL's protocol, as far as servers and connections that tests play need to know them.

/// Takes a stream of bytes apart into the messages of PostgreSQL's protocol (its manual, "Frontend/Backend Protocol").
struct MessageReading {
  /// The first message of a client has no type.
  private var hasType: Bool
  private var bytes: [UInt8] = []

  init(fromServer: Bool) { hasType = fromServer }

  /// Takes what has arrived.
  ///
  /// - Returns: The messages that are complete by that.
  mutating func take(_ more: [UInt8]) -> [[UInt8]] {
    bytes += more
    var messages: [[UInt8]] = []
    var start = 0
    while true {
      let place = start + (hasType ? 1 : 0)
      guard bytes.count >= place + 4 else { break }
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count >= place + length else { break }
      messages.append(Array(bytes[start..<place + length]))
      start = place + length
      hasType = true
    }
    bytes.removeFirst(start)
    return messages
  }
}

/// A message of a server.
func serverMessage(_ type: Character, _ content: [UInt8]) -> [UInt8] {
  let length = UInt32(content.count + 4)
  return [type.asciiValue ?? 0]
    + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + content
}
