import Foundation

extension PredicateLexer {
  /// One directive of a format string.
  struct Directive {
    var specifier: FormatSpecifier
    /// How C prints the argument.
    var conversion: String
  }

  /// The directives of a format string that take an argument, in order.
  ///
  /// - Throws: ``PredicateFormatError``.
  static func directives(of text: String) throws -> [Directive] {
    let scalars = Array(text.unicodeScalars)
    return try tokens(of: text).compactMap { token in
      guard case .specifier(let specifier) = token.kind else { return nil }
      var modifiers = ""
      var position = token.position + 1
      while position < scalars.count, "hlqLztj".unicodeScalars.contains(scalars[position]) {
        modifiers.unicodeScalars.append(scalars[position])
        position += 1
      }
      switch specifier {
      case .object, .keyPath, .string:
        return Directive(specifier: specifier, conversion: "%p")
      case .character: return Directive(specifier: specifier, conversion: "%d")
      case .double:
        return Directive(specifier: specifier, conversion: modifiers == "L" ? "%La" : "%a")
      case .integer:
        let isSigned = position < scalars.count && "dDi".unicodeScalars.contains(scalars[position])
        let length = modifiers.replacingOccurrences(of: "q", with: "ll")
        return Directive(
          specifier: specifier, conversion: "%\(length)\(isSigned ? "d" : "u")")
      }
    }
  }
}
