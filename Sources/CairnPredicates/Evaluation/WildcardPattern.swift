/// The pattern of `LIKE`: `?` is one Unicode scalar, `*` any number, a backslash takes the next
/// sign literally.
///
/// Matches whole texts in time proportional to text times pattern, without recursion.
package struct WildcardPattern: Sendable {
  private enum Element: Equatable {
    case literal(Unicode.Scalar)
    case one
    case many
  }
  private let elements: [Element]
  private let options: ComparisonPredicate.Options

  package init(_ pattern: String, options: ComparisonPredicate.Options = []) {
    var elements: [Element] = []
    var escaped = false
    for scalar in StringFolding.fold(pattern, options: options).unicodeScalars {
      if escaped {
        elements.append(.literal(scalar))
        escaped = false
      } else if scalar == "\\" {
        escaped = true
      } else if scalar == "?" {
        elements.append(.one)
      } else if scalar == "*" {
        if elements.last != .many { elements.append(.many) }
      } else {
        elements.append(.literal(scalar))
      }
    }
    if escaped { elements.append(.literal("\\")) }
    self.elements = elements
    self.options = options
  }

  /// Whether the whole text fits the pattern.
  package func matches(_ text: String) -> Bool {
    let text = Array(StringFolding.fold(text, options: options).unicodeScalars)
    var position = 0
    var element = 0
    // Where to go on after the last star, which then takes one scalar more.
    var retry: (element: Int, position: Int)?
    while position < text.count {
      if element < elements.count {
        switch elements[element] {
        case .many:
          retry = (element + 1, position)
          element += 1
          continue
        case .one:
          element += 1
          position += 1
          continue
        case .literal(let scalar) where scalar == text[position]:
          element += 1
          position += 1
          continue
        case .literal: break
        }
      }
      guard let last = retry else { return false }
      retry = (last.element, last.position + 1)
      element = last.element
      position = last.position + 1
    }
    return elements[element...].allSatisfy { $0 == .many }
  }
}
