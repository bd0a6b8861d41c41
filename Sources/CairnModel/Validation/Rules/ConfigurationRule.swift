/// Configurations name entities of the model.
enum ConfigurationRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    let known = model.entitiesByName
    return model.configurations.flatMap { configuration in
      model.entityNames(inConfiguration: configuration).filter { known[$0] == nil }.map { name in
        ModelProblem(
          code: "unknownConfigurationEntity", place: "configuration \(configuration)",
          message: "The configuration names the entity \(name), which the model lacks.")
      }
    }
  }
}
