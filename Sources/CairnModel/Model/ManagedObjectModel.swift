import Foundation
import Synchronization

/// A managed object model: the entities that a store's objects are made of.
///
/// Build it in code or read it from a file, then give it to a coordinator; from then on it and its
/// parts are immutable and may be used on any thread. Source: `NSManagedObjectModel`.
open class ManagedObjectModel: ModelElement, @unchecked Sendable {
  /// All entities, abstract ones and subentities included.
  ///
  /// Setting it replaces everything.
  open var entities: [EntityDescription] = [] {
    willSet { willChange() }
    didSet { adopt(entities) }
  }
  public var entitiesByName: [String: EntityDescription] {
    if let frozenEntitiesByName { return frozenEntitiesByName }
    return Dictionary(
      entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }
  private var frozenEntitiesByName: [String: EntityDescription]?

  // MARK: Configurations

  private var entityNamesByConfiguration: [String: [String]] = [:]

  /// The names of the named configurations.
  public var configurations: [String] { entityNamesByConfiguration.keys.sorted() }

  /// The entities of a configuration; all for nil, nil for an unknown name.
  open func entities(forConfigurationName configuration: String?) -> [EntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else {
      return entities
    }
    guard let names = entityNamesByConfiguration[configuration] else { return nil }
    let byName = entitiesByName
    return names.compactMap { byName[$0] }
  }

  /// What knows an entity by its name learns the new one.
  final func rename(_ entity: EntityDescription, from former: String?) {
    guard let former, let name = entity.name, entities.contains(where: { $0 === entity }),
      // A namesake keeps what is its own as much.
      !entities.contains(where: { $0.name == former })
    else { return }
    entityNamesByConfiguration = entityNamesByConfiguration.mapValues { names in
      names.map { $0 == former ? name : $0 }
    }
    templatesByName = templatesByName.mapValues { $0.renaming(former, to: name) }
    for property in entities.flatMap(\.declaredProperties) {
      guard let fetched = property as? FetchedPropertyDescription else { continue }
      fetched.template = fetched.template?.renaming(former, to: name)
    }
  }

  /// The names of a configuration's entities.
  package func entityNames(inConfiguration configuration: String) -> [String] {
    entityNamesByConfiguration[configuration] ?? []
  }

  /// Puts entities of the model into a named configuration; an entity may be in several.
  open func setEntities(
    _ entities: [EntityDescription], forConfigurationName configuration: String
  ) {
    willChange()
    entityNamesByConfiguration[configuration] = entities.compactMap(\.name)
  }

  /// The name under which stores record that they hold all entities.
  package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  // MARK: Annotations

  /// Free-form hints that tell versions apart for people; only hashes decide compatibility.
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willChange() } }
  /// Localized names and messages; keys such as `Property/name/Entity/Person`.
  open var localizationDictionary: [String: String]? { willSet { willChange() } }
  /// Fetch requests kept in the model, by name.
  package var templatesByName: [String: FetchRequestTemplate] = [:] { willSet { willChange() } }

  /// What the entities refer to the model with; there once it has some.
  private var looseReference: LooseReference<ManagedObjectModel> {
    if let reference { return reference }
    let made = LooseReference<ManagedObjectModel>()
    made.set(self)
    reference = made
    return made
  }
  private final var reference: LooseReference<ManagedObjectModel>?

  public override init() { super.init() }

  deinit { reference?.clear() }

  /// An editable model from an archive.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard let model = ElementCoding.model(from: coder) else { return nil }
    takeContents(of: model)
  }

  override func makeCopy() -> ModelElement { copyModel() }

  /// Core Data raises for an entity that is part of another model, too: it would have two owners.
  private func adopt(_ entities: [EntityDescription]) {
    for entity in entities {
      if let owner = entity.managedObjectModel, owner !== self,
        owner.entities.contains(where: { $0 === entity })
      {
        // The program builds the models; files are read into entities of their own.
        fatalError(
          "The entity \(entity.name ?? "without name") belongs to another model; add a copy of it.")
      }
      entity.modelReference = looseReference
    }
  }

  /// Makes everything in another model part of this one; the other is empty afterwards.
  package func takeContents(of other: ManagedObjectModel) {
    let taken = other.entities
    other.entities = []
    entities = taken
    entityNamesByConfiguration = other.entityNamesByConfiguration
    versionIdentifiers = other.versionIdentifiers
    localizationDictionary = other.localizationDictionary
    templatesByName = other.templatesByName
  }

  // MARK: Use

  /// The inheritance forest depth first, siblings by name without regard to case.
  ///
  /// The position plus one is the entity's number in SQL stores (`Z_ENT`).
  package var entitiesInNumberOrder: [EntityDescription] {
    func sorted(_ list: [EntityDescription]) -> [EntityDescription] {
      list.sorted {
        let (a, b) = ($0.name ?? "", $1.name ?? "")
        let (la, lb) = (a.lowercased(), b.lowercased())
        return la == lb ? a < b : la < lb
      }
    }
    func walk(_ list: [EntityDescription]) -> [EntityDescription] {
      sorted(list).flatMap { [$0] + walk($0.subentities) }
    }
    return walk(entities.filter { $0.superentity == nil })
  }

  private let freezing = Mutex(())

  /// Checks the model, makes it immutable and compiles the layouts.
  ///
  /// Does nothing the second time.
  ///
  /// - Throws: ``ModelError`` with every problem of the model at once; the model stays editable.
  package func prepareForUse() throws {
    try freezing.withLock { _ in
      if isFrozen { return }
      let problems = ModelValidation.problems(of: self)
      guard problems.isEmpty else { throw ModelError(problems: problems) }
      frozenEntitiesByName = entitiesByName
      for (index, entity) in entitiesInNumberOrder.enumerated() {
        entity.compiledLayout = EntityLayout(entity: entity, number: index + 1)
      }
      for entity in entities { entity.freeze() }
      freeze()
    }
  }
}
