/// Attributes and modifiers that stand before a declaration.
struct DeclarationPrefix {
  var attributes: [String] = []
  var objectiveCName: String?
  var access: AccessLevel?
  var isStatic = false
  var isOverride = false
  var isNonisolated = false
  /// The token that it begins with.
  var start: Int?

  static let modifiers: Set<String> = [
    "final", "dynamic", "override", "weak", "unowned", "lazy", "static", "nonisolated", "mutating",
    "indirect", "convenience", "required", "optional", "isolated", "distributed", "sending",
    "nonmutating", "prefix", "postfix", "infix", "borrowing", "consuming",
  ]

  mutating func add(modifier: String) {
    switch modifier {
    case "static": isStatic = true
    case "override": isOverride = true
    case "nonisolated": isNonisolated = true
    default: break
    }
  }
}
