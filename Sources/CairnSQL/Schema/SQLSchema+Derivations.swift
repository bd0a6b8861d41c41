import CairnModel
import CairnStore

// Derived attributes that no store keeps.

extension SQLDerivation {
  /// What a derived attribute may be.
  static let advice =
    "A derived attribute is a key path of the same object or through to-one relationships, "
    + "canonical:(key), lowercase:(key), uppercase:(key), a to-many's count or aggregate with the "
    + "operator at its end, such as pages.@count and pages.words.@sum, or now()."
}

extension SQLSchema {
  /// Derived attributes whose expressions are none that ``SQLDerivation`` knows, with what they are
  /// derived from; in the order of the entities.
  var unknownDerivations: [String] {
    entities.flatMap { entity in
      entity.entity.declaredProperties.compactMap { property -> String? in
        guard let attribute = property as? DerivedAttributeDescription, !attribute.isTransient,
          SQLDerivation(attribute, of: entity, schema: self) == nil
        else { return nil }
        let expression = attribute.derivationExpression?.description ?? "nothing"
        let filter = attribute.filteringPredicate.map { " where \($0)" } ?? ""
        return "\(entity.name).\(attribute.name) (\(expression)\(filter))"
      }.sorted()
    }
  }

  /// - Parameter database: Whose stores do not keep them, for the message.
  /// - Throws: 134020 for a derived attribute that would never get a value.
  package func checkDerivations(in database: String) throws {
    let unknown = unknownDerivations
    if unknown.isEmpty { return }
    let list = unknown.joined(separator: ", ")
    throw CoreDataError(
      .persistentStoreIncompatibleSchema,
      "\(database) stores do not keep \(list). \(SQLDerivation.advice)",
      userInfo: ["reason": "Unsupported derivation expressions: \(list)."])
  }
}
