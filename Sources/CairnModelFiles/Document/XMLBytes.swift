import Foundation

/// Asks of bytes what Foundation's XML parser takes for granted.
///
/// Foundation on Linux traps on names whose bytes are no UTF-8, which the parser beneath it lets
/// pass; so whoever reads a document that came from outside asks here first.
enum XMLBytes {
  /// Whether the parser can be given the bytes.
  package static func areSafe(_ data: Data) -> Bool {
    String(validating: data, as: UTF8.self) != nil
  }

  /// What to say of bytes that are not.
  package static let refusal = "The document is no UTF-8 text; save it in UTF-8."
}
