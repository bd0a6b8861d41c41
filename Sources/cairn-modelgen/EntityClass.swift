import CairnModel

/// The Swift class of an entity's objects.
struct EntityClass {
  let entity: EntityDescription
  let names: FrameworkNames

  /// The class of entities that name none.
  private var baseName: String { names.managedObject }

  /// Whether the model gives the entity a class of its own.
  var isNamed: Bool { name != baseName }
  /// Whether the class inherits from that of another entity.
  var hasNamedParent: Bool { parentName != baseName }

  /// The name without module.
  var name: String {
    let full = entity.managedObjectClassName ?? "NSManagedObject"
    let name = full.split(separator: ".").last.map(String.init) ?? full
    return name == "NSManagedObject" ? baseName : name
  }

  /// The class it inherits from: that of the nearest ancestor with another one.
  var parentName: String {
    var next = entity.superentity
    while let ancestor = next {
      let parent = EntityClass(entity: ancestor, names: names)
      if parent.isNamed, parent.name != name { return parent.name }
      next = ancestor.superentity
    }
    return baseName
  }

  /// The properties that the class declares: those of the entity, and of ancestors without class.
  var properties: [PropertyDescription] {
    var result = entity.declaredProperties
    var next = entity.superentity
    while let ancestor = next, !EntityClass(entity: ancestor, names: names).isNamed {
      result += ancestor.declaredProperties
      next = ancestor.superentity
    }
    return result.sorted { $0.name < $1.name }
  }
}
