// io.cairn.Data.GetModel: the shape of the data.

/// Describes the model's entities and their properties.
public enum GetModel: ControlMethod {
  public static let name = "io.cairn.Data.GetModel"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    type Attribute (
      name: string,
      type: string,
      isOptional: bool,
      isTransient: bool,
      defaultValue: ?object,
      isDerived: ?bool
    )
    """,
    """
    type Relationship (
      name: string,
      destination: string,
      inverse: ?string,
      isToMany: bool,
      isOrdered: bool,
      isOptional: bool,
      deleteRule: string
    )
    """,
    """
    # The properties whose values together no two records may share.
    type Constraint (properties: []string)
    """,
    """
    type Entity (
      name: string,
      isAbstract: bool,
      superentity: ?string,
      attributes: []Attribute,
      relationships: []Relationship,
      uniqueness: []Constraint,
      versionHash: ?string
    )
    """,
    """
    type Model (name: string, versions: []string, entities: []Entity)
    """,
    """
    # The shape of the data. Role: status.
    method GetModel() -> (model: Model)
    """,
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    public var model: ModelSummary
    public init(model: ModelSummary) { self.model = model }
  }
}

/// The model in the words of Core Data.
public struct ModelSummary: Codable, Sendable, Hashable {
  /// The model's file or name.
  public var name: String
  /// Version identifiers given in the model editor.
  public var versions: [String]
  public var entities: [EntitySummary]

  public init(name: String, versions: [String] = [], entities: [EntitySummary]) {
    self.name = name
    self.versions = versions
    self.entities = entities
  }
}

/// One entity, inherited properties included.
public struct EntitySummary: Codable, Sendable, Hashable {
  public var name: String
  public var isAbstract: Bool
  public var superentity: String?
  public var attributes: [AttributeSummary]
  public var relationships: [RelationshipSummary]
  public var uniqueness: [ConstraintSummary]
  /// The version hash in base64.
  public var versionHash: String?

  public init(
    name: String, isAbstract: Bool = false, superentity: String? = nil,
    attributes: [AttributeSummary] = [], relationships: [RelationshipSummary] = [],
    uniqueness: [ConstraintSummary] = [], versionHash: String? = nil
  ) {
    self.name = name
    self.isAbstract = isAbstract
    self.superentity = superentity
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueness = uniqueness
    self.versionHash = versionHash
  }
}

/// One uniqueness constraint.
public struct ConstraintSummary: Codable, Sendable, Hashable {
  /// The properties whose values together no two records may share.
  public var properties: [String]

  public init(properties: [String]) { self.properties = properties }
}

/// One attribute.
public struct AttributeSummary: Codable, Sendable, Hashable {
  public var name: String
  /// The type's name in the model editor: `String`, `Integer 64`, `Date` and so on.
  public var type: String
  public var isOptional: Bool
  public var isTransient: Bool
  public var defaultValue: JSONValue?
  /// True for one that the store computes; nil for the others.
  public var isDerived: Bool?

  public init(
    name: String, type: String, isOptional: Bool, isTransient: Bool = false,
    defaultValue: JSONValue? = nil, isDerived: Bool? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.defaultValue = defaultValue
    self.isDerived = isDerived
  }
}

/// One relationship.
public struct RelationshipSummary: Codable, Sendable, Hashable {
  public var name: String
  public var destination: String
  public var inverse: String?
  public var isToMany: Bool
  public var isOrdered: Bool
  public var isOptional: Bool
  /// `noAction`, `nullify`, `cascade` or `deny`.
  public var deleteRule: String

  public init(
    name: String, destination: String, inverse: String? = nil, isToMany: Bool,
    isOrdered: Bool = false, isOptional: Bool = true, deleteRule: String
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isOptional = isOptional
    self.deleteRule = deleteRule
  }
}
