import CairnModel
import CairnPredicates
import CairnStore

/// What SQLite stores do not make of a model, or make otherwise, though the model says it.
package enum SQLiteLimits {
  // MARK: Names

  /// The tables of every store, which an entity's table would be.
  private static let ownTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// Names of entities and properties that no table or column can have.
  package static func nameProblems(of model: ManagedObjectModel) -> [ModelProblem] {
    model.entities.flatMap { entity -> [ModelProblem] in
      let name = entity.name ?? ""
      var problems: [ModelProblem] = []
      if !isHeld(name) {
        problems.append(problem(name, "The entity's name"))
      } else if entity.superentity == nil, ownTables.contains(SQLNaming.table(entity)) {
        problems.append(
          ModelProblem(
            code: "unstorableName", place: name,
            message: "Every SQLite store has a table \(SQLNaming.table(entity)) of its own; choose "
              + "another name for the entity."))
      }
      for column in entity.declaredProperties.flatMap({ columns(of: $0, of: name) })
      where !isHeld(column.name) {
        problems.append(problem(column.place, "The name \"\(column.name)\""))
      }
      return problems
    }
  }

  /// Whether SQL can hold the name of the table or column, which begins with a Z.
  private static func isHeld(_ name: String) -> Bool { SQLNaming.isPlain("Z" + name) }

  private static func problem(_ place: String, _ name: String) -> ModelProblem {
    ModelProblem(
      code: "unstorableName", place: place,
      message: "\(name) can be no name in a SQLite store; use letters, digits and underscores.")
  }

  /// The columns of a property, by the names that they get theirs from.
  private static func columns(
    of property: PropertyDescription, of place: String
  ) -> [(name: String, place: String)] {
    let own = "\(place).\(property.name)"
    if property.isTransient || property is FetchedPropertyDescription { return [] }
    guard let composite = property as? CompositeAttributeDescription else {
      return [(property.name, own)]
    }
    return composite.elements.flatMap { columns(of: $0, of: own) }
  }

  // MARK: Fetch indexes

  /// Fetch indexes that stores leave out, or make otherwise than the model says.
  package static func indexProblems(of model: ManagedObjectModel) -> [ModelProblem] {
    // The program may still change a model that no coordinator uses, so the copy is what gets prepared.
    guard let model = model.copy() as? ManagedObjectModel, (try? model.prepareForUse()) != nil
    else { return [] }
    return SQLSchema(model: model).entities.flatMap { entity in
      entity.entity.indexesToMake.flatMap { index in
        reasons(against: index, of: entity).map {
          ModelProblem(
            code: "indexNotAsModelled", place: entity.name,
            message: "SQLite stores \($0.effect) the index \(index.name): \($0.reason).")
        }
      }
    }
  }

  private static func reasons(
    against index: FetchIndexDescription, of entity: SQLEntity
  ) -> [(effect: String, reason: String)] {
    let isLocation = index.elements.contains { $0.collationType == .rTree }
    let unmade = index.elements.filter { !canBeMade($0, isLocation, of: entity) }
    if !unmade.isEmpty {
      let names = unmade.map { "\"\(name(of: $0))\"" }.joined(separator: ", ")
      return [("do not make", "no column holds \(names), and SQLite cannot compute it")]
    }
    var reasons: [(String, String)] = []
    if isLocation {
      if index.elements.contains(where: { $0.collationType != .rTree }) {
        reasons.append(
          ("change", "one of its elements is of type RTree, which makes all of them ranges"))
      }
      let texts = index.elements.filter { !isNumber($0, of: entity) }.map(name)
      if !texts.isEmpty {
        let names = texts.joined(separator: ", ")
        reasons.append(("change", "the type RTree holds numbers alone, which \(names) is not"))
      }
    }
    if let predicate = index.partialIndexPredicate,
      isLocation || SQLiteIndexWords().condition(predicate, of: entity) == nil
    {
      reasons.append(
        ("make of all rows", "no index can have the condition \(predicate.predicateFormat)"))
    }
    return reasons
  }

  private static func canBeMade(
    _ element: FetchIndexElementDescription, _ isLocation: Bool, of entity: SQLEntity
  ) -> Bool {
    if isLocation, element.property is ExpressionDescription { return false }
    return SQLiteIndexWords().text(of: element, entity) != nil
  }

  private static func isNumber(
    _ element: FetchIndexElementDescription, of entity: SQLEntity
  ) -> Bool {
    guard let name = element.propertyName, let slot = entity.layout.slotByName[name],
      case .attribute(let attribute) = entity.layout.slots[slot].content
    else { return false }
    switch attribute.attributeType {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date, .boolean: return true
    case .undefined, .string, .binaryData, .uuid, .uri, .transformable, .objectID, .composite:
      return false
    }
  }

  private static func name(of element: FetchIndexElementDescription) -> String {
    let computed = (element.property as? ExpressionDescription)?.expression
    return computed.map { "\($0)" } ?? element.propertyName ?? ""
  }
}

extension SQLSchema {
  /// - Throws: 134020 for names that no table or column can have.
  package func checkNames() throws {
    let problems = SQLiteLimits.nameProblems(of: model)
    if problems.isEmpty { return }
    throw CoreDataError(
      .persistentStoreIncompatibleSchema,
      problems.map(\.description).joined(separator: " "),
      userInfo: ["reason": "The model has names that no SQLite store can hold."])
  }
}
