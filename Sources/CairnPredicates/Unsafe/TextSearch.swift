import Foundation

/// Searching by UTF-8 bytes; an empty text is part of every text.
package enum TextSearch {
  package static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    text.utf8.starts(with: prefix.utf8)
  }

  package static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
    let count = suffix.utf8.count
    return text.utf8.count >= count && text.utf8.suffix(count).elementsEqual(suffix.utf8)
  }

  package static func contains(_ text: String, _ part: String) -> Bool {
    var text = text
    var part = part
    return text.withUTF8 { text in part.withUTF8 { part in contains(text, part) } }
  }

  /// Whether one run of bytes is part of another.
  package static func contains(
    _ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard let needle = part.baseAddress, let first = part.first else { return true }
    guard var place = text.baseAddress, text.count >= part.count else { return false }
    let last = place + (text.count - part.count)
    while place <= last {
      guard let found = memchr(place, Int32(first), last - place + 1) else { return false }
      place = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      if memcmp(place, needle, part.count) == 0 { return true }
      place += 1
    }
    return false
  }
}
