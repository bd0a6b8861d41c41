import Foundation

/// What comparisons with options see of a text.
///
/// SQL functions call it too, so that a store and memory agree.
///
/// - `[c]`: full Unicode case folding, independent of locale (`ß` becomes `ss`).
/// - `[d]`: canonical decomposition without combining marks (scalars whose canonical combining
///   class is not 0), composed again.
/// - any of `c`, `d`, `l`: the result is in Normalization Form C, so that two spellings of one
///   text are equal.
/// - `[n]` or no options: the text as it is.
package enum StringFolding {
  /// The folded text.
  package static func fold(
    _ text: String, options: ComparisonPredicate.Options
  ) -> String {
    if !changes(options) { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return options.contains(.caseInsensitive) ? text.lowercased() : text
    }
    var folded = text
    if options.contains(.diacriticInsensitive) {
      var bare = String.UnicodeScalarView()
      for scalar in folded.decomposedStringWithCanonicalMapping.unicodeScalars
      where scalar.properties.canonicalCombiningClass == .notReordered {
        bare.append(scalar)
      }
      folded = String(bare)
    }
    if options.contains(.caseInsensitive) {
      folded = folded.precomposedStringWithCanonicalMapping
        .folding(options: .caseInsensitive, locale: nil)
    }
    return folded.precomposedStringWithCanonicalMapping
  }

  /// Whether the options ask for anything but the bytes.
  package static func changes(_ options: ComparisonPredicate.Options) -> Bool {
    !options.contains(.normalized)
      && !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
  }

  /// The value with its text folded; collections member by member.
  static func fold(
    _ value: PredicateValue, options: ComparisonPredicate.Options
  ) -> PredicateValue {
    if !changes(options) { return value }
    switch value {
    case .string(let text): return .string(fold(text, options: options))
    case .url(let url): return .string(fold(url.absoluteString, options: options))
    case .array(let members): return .array(members.map { fold($0, options: options) })
    case .set(let members): return .set(Set(members.map { fold($0, options: options) }))
    case .null, .boolean, .integer, .double, .decimal, .date, .data, .uuid, .objectID, .object,
      .dictionary:
      return value
    }
  }
}
