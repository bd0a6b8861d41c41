import Foundation

/// One word of a format string and where it starts.
struct PredicateToken: Sendable {
  enum Kind: Sendable, Equatable {
    /// An identifier or reserved word, as written; a word after `#` is never reserved.
    case word(String, FormatWord?)
    /// `@count`, with the sign.
    case collectionOperator(String)
    /// `bitwiseAnd:with:`.
    case selector(String)
    /// `$name`, without the sign.
    case variable(String)
    case string(String)
    case integer(UInt64)
    case decimal(Decimal)
    case double(Double)
    case specifier(FormatSpecifier)
    case symbol(FormatSymbol)
    case end
  }
  let kind: Kind
  /// In Unicode scalars from the start of the text.
  let position: Int
}

/// The signs of the format language.
enum FormatSymbol: String, CaseIterable, Sendable {
  case equal = "="
  case equalEqual = "=="
  case notEqual = "!="
  case lessGreater = "<>"
  case less = "<"
  case greater = ">"
  case lessEqual = "<="
  case equalLess = "=<"
  case greaterEqual = ">="
  case equalGreater = "=>"
  case andAnd = "&&"
  case orOr = "||"
  case not = "!"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case power = "**"
  case divide = "/"
  /// A percent sign, doubled as in every format.
  case modulus = "%%"
  case and = "&"
  case or = "|"
  case xor = "^"
  case shiftLeft = "<<"
  case shiftRight = ">>"
  case complement = "~"
  case open = "("
  case close = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case assign = ":="
}

/// What a percent directive takes from the arguments.
enum FormatSpecifier: Sendable, Equatable {
  case object
  case keyPath
  case integer
  case double
  case character
  case string
}
