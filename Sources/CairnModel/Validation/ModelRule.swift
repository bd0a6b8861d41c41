/// One thing that a usable model keeps to.
protocol ModelRule: SendableMetatype {
  /// Every place where the model does not.
  static func problems(of model: ManagedObjectModel) -> [ModelProblem]
}

extension ModelRule {
  /// Each property with the name of the place where it is declared.
  static func declaredProperties(
    of model: ManagedObjectModel
  ) -> [(entity: EntityDescription, property: PropertyDescription, place: String)] {
    model.entities.flatMap { entity in
      entity.declaredProperties.map { (entity, $0, "\(entity.name ?? "").\($0.name)") }
    }
  }
}
