// What a form or a link asks for.

import Foundation

/// The parameters behind the question mark, as HTML forms write them: a plus is a space.
struct FormQuery: Sendable {
  private var values: [String: String] = [:]

  init(_ query: String?) {
    for item in (query ?? "").split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), parts.count == 2 else { continue }
      values[name] = Self.decoded(parts[1])
    }
  }

  /// The last value of that name; nil when there is none, or it is no UTF-8.
  subscript(name: String) -> String? { values[name] }

  private static func decoded(_ text: Substring) -> String? {
    text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
  }
}
