import CairnModel
import CairnPredicates

/// The foldings of text that derived attributes have, which no database does as Core Data does.
package enum SQLFolding {
  package static let all: [(name: String, fold: @Sendable (String) -> String)] = [
    (SQLFunctionName.uppercase, { $0.uppercased() }),
    (SQLFunctionName.lowercase, { $0.lowercased() }),
    (
      SQLFunctionName.canonical,
      { StringFolding.fold($0, options: [.caseInsensitive, .diacriticInsensitive]) }
    ),
  ]

  /// What a function makes of a text; nil for another function.
  package static func fold(_ function: String) -> (@Sendable (String) -> String)? {
    all.first { $0.name == function }?.fold
  }
}
