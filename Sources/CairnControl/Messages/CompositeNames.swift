// A composite attribute where one of its elements is wanted.

extension ControlError {
  /// That a name is a composite attribute, or a group within one; nil when it is none.
  ///
  /// - Parameter names: The entity's attributes, elements by their paths.
  public static func composite(
    _ name: String, of entity: String, leaves names: [String]
  ) -> ControlError? {
    let elements = names.filter { $0.hasPrefix(name + ".") }
    if elements.isEmpty { return nil }
    return .invalidValue(
      entity: entity, property: "",
      reason: "\(name) is a composite attribute; give its elements: "
        + elements.sorted().joined(separator: ", "))
  }
}
