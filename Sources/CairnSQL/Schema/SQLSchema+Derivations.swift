import CairnModel

// Derived attributes that no store keeps.

extension SQLSchema {
  /// Derived attributes whose expressions are none that ``SQLDerivation`` knows, with what they are
  /// derived from; in the order of the entities.
  package var unknownDerivations: [String] {
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
}
