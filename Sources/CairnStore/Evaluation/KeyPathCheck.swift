import CairnModel

/// Whether the key paths of a request lead anywhere in its entity, so that a misspelt one is an
/// error and not a silent "no value".
public enum KeyPathCheck {
  /// Checks everything the request mentions.
  ///
  /// - Throws: 134060 with Core Data's text, `keypath … not found in entity …`.
  public static func check(_ request: StoreFetchRequest) throws {
    var paths: Set<String> = []
    if let predicate = request.predicate { paths.formUnion(predicate.node.contents.keyPaths) }
    for descriptor in request.sortDescriptors {
      if let key = descriptor.key { paths.insert(key) }
    }
    if case .dictionaries(let columns) = request.result {
      // Sort keys and the having predicate may name columns.
      let names = Set(columns.columns.map(\.key))
      paths = paths.filter { !names.contains($0) }
      for column in columns.columns { paths.formUnion(column.expression.node.contents.keyPaths) }
      for group in columns.groupBy { paths.formUnion(group.node.contents.keyPaths) }
    }
    for path in paths.sorted() where !leadsSomewhere(path, from: request.entity) {
      throw CoreDataError(
        .coreData, "keypath \(path) not found in entity \(request.entity.name ?? "?")")
    }
  }

  /// Whether a key path leads to a property, from an entity.
  public static func leadsSomewhere(_ path: String, from start: EntityDescription) -> Bool {
    var entity: EntityDescription? = start
    var composite: CompositeAttributeDescription?
    let parts = path.split(separator: ".").map(String.init)
    for (index, part) in parts.enumerated() {
      // Collection operators take whatever follows from their members.
      if part.hasPrefix("@") { continue }
      if let group = composite {
        guard let element = group.elements.first(where: { $0.name == part }) else { return false }
        composite = element as? CompositeAttributeDescription
        if composite == nil { entity = nil }
        continue
      }
      guard let current = entity else { return false }
      if part == "self" || part == "SELF" { continue }
      if part == "entity", path.hasSuffix("entity.name") { return true }
      if part == "objectID" || part == "entity" {
        entity = nil
        continue
      }
      guard let property = current.propertiesByName[part] else { return false }
      if let relationship = property as? RelationshipDescription {
        entity = relationship.destinationEntity
      } else if let group = property as? CompositeAttributeDescription {
        composite = group
      } else {
        // What follows is read from the value, as with `name.length`; the check cannot know
        // what a transformable value has.
        guard index + 1 < parts.count, let attribute = property as? AttributeDescription,
          attribute.attributeType != .transformable, attribute.attributeType != .undefined
        else { return true }
        return parts[index + 1].hasPrefix("@") || attribute.attributeType.hasKey(parts[index + 1])
      }
    }
    return true
  }
}
