import CairnModel

/// The accessors of a relationship as Swift source.
struct RelationshipText {
  private let relationship: RelationshipDescription

  init(_ relationship: RelationshipDescription) { self.relationship = relationship }

  private var destination: String {
    relationship.destinationEntity.map { escaped(ClassGenerator.className(of: $0)) }
      ?? "ManagedObject"
  }

  var lines: [String] {
    let key = quoted(relationship.name)
    let type =
      !relationship.isToMany ? destination : relationship.isOrdered ? "NSOrderedSet" : "NSSet"
    let accessor = [
      "", "  public var \(escaped(relationship.name)): \(type)? {",
      "    get { value(forKey: \(key)) as? \(type) }",
      "    set { setValue(newValue, forKey: \(key)) }", "  }",
    ]
    return relationship.isToMany ? accessor + memberLines(key: key) : accessor
  }

  private func memberLines(key: String) -> [String] {
    let suffix = relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
    let (kind, view) =
      relationship.isOrdered
      ? ("NSOrderedSet", "mutableOrderedSetValue(forKey: \(key))")
      : ("NSSet", "mutableSetValue(forKey: \(key))")
    var lines = [
      "", "  public func addTo\(suffix)(_ value: \(destination)) {", "    \(view).add(value)",
      "  }",
      "", "  public func removeFrom\(suffix)(_ value: \(destination)) {",
      "    \(view).remove(value)", "  }",
    ]
    lines += [
      "", "  public func addTo\(suffix)(_ values: \(kind)) {",
      "    for case let value as \(destination) in values { \(view).add(value) }", "  }",
      "", "  public func removeFrom\(suffix)(_ values: \(kind)) {",
      "    for case let value as \(destination) in values { \(view).remove(value) }", "  }",
    ]
    guard relationship.isOrdered else { return lines }
    lines += [
      "", "  public func insertInto\(suffix)(_ value: \(destination), at index: Int) {",
      "    \(view).insert(value, at: index)", "  }",
      "", "  public func removeFrom\(suffix)(at index: Int) {",
      "    \(view).removeObject(at: index)", "  }",
      "", "  public func replace\(suffix)(at index: Int, with value: \(destination)) {",
      "    \(view).replaceObject(at: index, with: value)", "  }",
    ]
    return lines
  }
}
