import Foundation

/// One thing that is wrong with a model.
public struct ModelProblem: Sendable, Hashable, CustomStringConvertible {
  /// Stable, such as `missingDestination`.
  public let code: String
  /// Where: `Entity`, or `Entity.property`.
  public let place: String
  /// What is wrong and what would be right.
  public let message: String

  public init(code: String, place: String, message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  public var description: String { "\(place): \(message)" }
}

/// A model that cannot be used, with everything that is wrong with it.
public struct ModelError: Error, Sendable, CustomStringConvertible, LocalizedError {
  public let problems: [ModelProblem]

  public init(problems: [ModelProblem]) {
    self.problems = problems
  }

  public var description: String {
    "The model has \(problems.count) problem\(problems.count == 1 ? "" : "s"):\n"
      + problems.map { "  " + $0.description }.joined(separator: "\n")
  }
  public var errorDescription: String? { description }
}

/// Checks a whole model and reports every problem at once.
public enum ModelValidation {
  private static let rules: [any ModelRule.Type] = [
    EntityNameRule.self, PropertyNameRule.self, AttributeTypeRule.self, DefaultValueRule.self,
    DestinationRule.self, InverseRule.self, CountRule.self, ConstraintRule.self, IndexRule.self,
    ConfigurationRule.self, TemplateRule.self,
  ]

  /// The problems of the model, by rule and within each in the order of its entities; empty when it
  /// can be used.
  ///
  /// While inheritance goes round in a circle nothing else can be asked, so that then only problems
  /// of inheritance are reported.
  public static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    let inheritance = InheritanceRule.problems(of: model)
    if inheritance.contains(where: { $0.code == "inheritanceCycle" }) { return inheritance }
    return inheritance + rules.flatMap { $0.problems(of: model) }
  }
}

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
