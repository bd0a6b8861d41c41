// Takes the descriptions of Swift key paths apart, step by step.

/// Takes the description of a key path apart.
///
/// The standard library describes a step by its property's name where it is stored, and otherwise
/// by the address of its accessor, which is the same in every path through the property:
/// `\Person.<computed 0x… (Optional<Company>)>?.<computed 0x… (String)>`.
enum KeyPathText {
  /// The text of each step, without optional chaining.
  static func steps(of keyPath: AnyKeyPath) -> [String] {
    let root = "\\\(type(of: keyPath).rootType)"
    var text = Substring(keyPath.debugDescription)
    guard text.hasPrefix(root) else { return [] }
    text = text.dropFirst(root.count)
    var steps: [String] = []
    var step = ""
    var depth = 0
    for sign in text {
      switch sign {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case "." where depth == 0, "?" where depth == 0, "!" where depth == 0:
        if !step.isEmpty { steps.append(step) }
        step = ""
        continue
      default: break
      }
      step.append(sign)
    }
    if !step.isEmpty { steps.append(step) }
    return steps
  }

  /// The name of a stored property; nil for the text of other steps.
  static func property(_ step: String) -> String? {
    FormatWord.isIdentifier(step) ? step : nil
  }
}
