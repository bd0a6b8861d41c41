/// Finds patterns that can make a backtracking matcher take exponential time.
///
/// Errs on the side of refusing.
enum RegularExpressionCost {
  /// The most repetitions without upper bound in one pattern.
  static let maximumRepetitions = 5

  /// Why a pattern from an untrusted source is refused; nil when it is harmless.
  static func problem(of pattern: String) -> String? {
    let signs = Array(pattern.unicodeScalars)
    // Whether each open group so far holds a repetition or alternatives.
    var groups: [Bool] = [false]
    var closedIsRisky = false
    var repetitions = 0
    var inClass = 0
    var index = 0
    while index < signs.count {
      let sign = signs[index]
      let afterGroup = index > 0 && signs[index - 1] == ")" && !isEscaped(signs, index - 1)
      if sign == "\\" {
        if index + 1 < signs.count, inClass == 0 {
          let next = signs[index + 1]
          if ("1"..."9").contains(next) || next == "k" {
            return "back references are not allowed in this pattern"
          }
        }
        index += 2
        continue
      }
      if inClass > 0 {
        if sign == "[" { inClass += 1 }
        if sign == "]" { inClass -= 1 }
        index += 1
        continue
      }
      switch sign {
      case "[": inClass = 1
      case "(": groups.append(false)
      case ")":
        if groups.count > 1 {
          closedIsRisky = groups.removeLast()
          if closedIsRisky { groups[groups.count - 1] = true }
        }
      case "|": groups[groups.count - 1] = true
      case "*", "+", "{":
        if afterGroup, closedIsRisky {
          return "repetitions inside repetitions are not allowed in this pattern"
        }
        repetitions += 1
        groups[groups.count - 1] = true
      default: break
      }
      index += 1
    }
    if repetitions > maximumRepetitions {
      return "more than \(maximumRepetitions) repetitions are not allowed in this pattern"
    }
    return nil
  }

  private static func isEscaped(_ signs: [Unicode.Scalar], _ index: Int) -> Bool {
    var backslashes = 0
    while index - 1 - backslashes >= 0, signs[index - 1 - backslashes] == "\\" { backslashes += 1 }
    return backslashes % 2 == 1
  }
}
