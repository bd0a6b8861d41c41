import CairnModel

/// The accessors of a relationship as Swift source, under the names that Xcode gives them.
struct RelationshipText {
  let relationship: RelationshipDescription
  /// The slot of a relationship to one object, the index of one to many.
  let number: Int
  let names: FrameworkNames

  private var destination: String {
    relationship.destinationEntity.map { escaped(EntityClass(entity: $0, names: names).name) }
      ?? names.managedObject
  }

  private var name: String { escaped(relationship.name) }

  /// The name in `addToX`.
  private var suffix: String {
    relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
  }

  var lines: [String] {
    guard relationship.isToMany else { return toOneLines }
    return relationship.isOrdered ? orderedLines : setLines
  }

  private var toOneLines: [String] {
    let read = "destination(at: \(number))"
    return [
      "", "  public var \(name): \(destination)? {",
      "    get { \(read)\(destination == names.managedObject ? "" : " as? \(destination)") }",
      "    set { setDestination(newValue, at: \(number)) }", "  }",
    ]
  }

  private var setLines: [String] {
    [
      "", "  public var \(name): NSSet? {",
      "    get { memberSet(ofToMany: \(number)) }",
      "    set { setMemberSet(newValue, ofToMany: \(number)) }", "  }",
    ] + memberLines(sets: ["NSSet", "Set<\(destination)>"])
  }

  private var orderedLines: [String] {
    let list = "orderedMembers(ofToMany: \(number))"
    let sets = ["IndexSet", "NSIndexSet"]
    func positions(_ type: String) -> String {
      type == "IndexSet" ? "indexes" : "IndexSet(indexes)"
    }
    return [
      "", "  public var \(name): NSOrderedSet? {",
      "    get { orderedMemberSet(ofToMany: \(number)) }",
      "    set { setOrderedMemberSet(newValue, ofToMany: \(number)) }", "  }",
    ] + memberLines(sets: ["NSOrderedSet", "[\(destination)]"])
      + method(
        "insertInto\(suffix)(_ value: \(destination), at idx: Int)",
        "\(list).insert(value, at: idx)")
      + method("removeFrom\(suffix)(at idx: Int)", "\(list).removeObject(at: idx)")
      + method(
        "replace\(suffix)(at idx: Int, with value: \(destination))",
        "\(list).replaceObject(at: idx, with: value)")
      + sets.flatMap { set in
        method(
          "insertInto\(suffix)(_ values: [\(destination)], at indexes: \(set))",
          "\(list).insert(values, at: \(positions(set)))")
          + method(
            "removeFrom\(suffix)(at indexes: \(set))",
            "\(list).removeObjects(at: \(positions(set)))")
          + method(
            "replace\(suffix)(at indexes: \(set), with values: [\(destination)])",
            "\(list).replaceObjects(at: \(positions(set)), with: values)")
      }
  }

  /// Adding and removing one member, and the members of each kind of collection.
  private func memberLines(sets: [String]) -> [String] {
    [("addTo", "addMembers"), ("removeFrom", "removeMembers")].flatMap { prefix, change in
      method(
        "\(prefix)\(suffix)(_ value: \(destination))",
        "\(change)(CollectionOfOne(value), toMany: \(number))")
        + sets.flatMap { set in
          let values =
            set.hasPrefix("NS")
            ? "values.lazy.compactMap { $0 as? \(names.managedObject) }" : "values.lazy.map { $0 }"
          return method(
            "\(prefix)\(suffix)(_ values: \(set))", "\(change)(\(values), toMany: \(number))")
        }
    }
  }

  private func method(_ signature: String, _ body: String) -> [String] {
    ["", "  public func \(signature) {", "    \(body)", "  }"]
  }
}
