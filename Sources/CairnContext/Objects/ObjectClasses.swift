import CairnPredicates
import CRuntime
import CairnModel
import Foundation
import Synchronization

/// Which class the objects of an entity have.
///
/// The order of search: a class registered by hand, the class that the entity names (with or
/// without its module), and `ManagedObject`.
enum ObjectClasses {
  // Metatypes are immutable.
  private struct Entry: @unchecked Sendable {
    let type: ManagedObject.Type
  }

  private struct State {
    var byEntityName: [String: Entry] = [:]
    var byClassName: [String: Entry] = [:]
    /// What generated code says that classes override; those that it does not tell of are not in it.
    var hooks: [ObjectIdentifier: ClassHooks] = [:]
    /// What the runtime said about class names; empty after each registration.
    var lookups: [String: Lookup] = [:]
    /// Models that contexts use, newest last.
    var models: [WeakModel] = []
  }

  /// What the runtime knows under a class name.
  private struct Lookup {
    /// Nil when there was no such class.
    let entry: Entry?
    /// ``loads`` before the runtime was asked: a library that was loaded since may have the class.
    let loads: UInt64
  }

  private struct WeakModel {
    weak var model: ManagedObjectModel?
  }
  private static let state = Mutex(State())
  private static let changes = Atomic<Int>(0)
  private static let asked = Atomic<Int>(0)

  /// Changes whenever a class was registered; what was looked up before may be different now.
  static var generation: Int { changes.load(ordering: .relaxed) }

  /// How often the runtime was asked for a class, which costs more than the rest of an insert.
  static var searches: Int { asked.load(ordering: .relaxed) }

  static func register(_ type: ManagedObject.Type, forEntityName name: String) {
    state.withLock { state in
      state.byEntityName[name] = Entry(type: type)
      state.lookups = [:]
    }
    changes.wrappingAdd(1, ordering: .relaxed)
  }

  /// Remembers a class that a program was seen to use, under the name it has in models.
  static func learn(_ type: ManagedObject.Type) {
    guard type != ManagedObject.self else { return }
    let name = String(describing: type)
    let isNew = state.withLock { state in
      if state.byClassName[name] != nil { return false }
      state.byClassName[name] = Entry(type: type)
      state.lookups = [:]
      return true
    }
    if isNew { changes.wrappingAdd(1, ordering: .relaxed) }
  }

  /// Remembers a model in use, so that a class can name its entity without a context.
  static func learn(_ model: ManagedObjectModel) {
    state.withLock { state in
      state.models.removeAll { $0.model == nil || $0.model === model }
      state.models.append(WeakModel(model: model))
    }
  }

  /// The one entity of the class among the models in use; in the newest of those that have one.
  ///
  /// An entity without name and model when there is none.
  static func entity(of type: ManagedObject.Type) -> EntityDescription {
    let models = state.withLock { $0.models.compactMap(\.model) }
    for model in models.reversed() {
      let matches = entities(of: type, in: model)
      if matches.count == 1 { return matches[0] }
    }
    return EntityDescription()
  }

  /// Remembers a class under a name that models use for it, and what it overrides where that is known.
  static func learn(
    _ type: ManagedObject.Type, named name: String, overriding members: [String]? = nil
  ) {
    state.withLock { state in
      if let members { state.hooks[ObjectIdentifier(type)] = ClassHooks(overriding: members) }
      state.byClassName[name] = Entry(type: type)
      state.lookups = [:]
    }
    changes.wrappingAdd(1, ordering: .relaxed)
  }

  static func type(for entity: EntityDescription) -> ManagedObject.Type {
    GeneratedModules.load()
    let entityName = entity.name ?? ""
    if let entry = state.withLock({ $0.byEntityName[entityName] }) { return entry.type }
    guard names(aClassIn: entity), let className = entity.managedObjectClassName else {
      return ManagedObject.self
    }
    // `.Name` is how Xcode writes "in the current module".
    let bare = className.hasPrefix(".") ? String(className.dropFirst()) : className
    let (known, lookup) = state.withLock { ($0.byClassName[bare], $0.lookups[bare]) }
    if let known { return known.type }
    if let lookup {
      if let entry = lookup.entry { return entry.type }
      if lookup.loads == loads { return ManagedObject.self }
    }
    return search(bare)
  }

  /// What a class and those above it implement themselves, as far as ``ManagedObject``.
  static func hooks(of type: ManagedObject.Type) -> ClassHooks {
    GeneratedModules.load()
    return state.withLock { state in
      var hooks: ClassHooks = []
      var next: AnyClass? = type
      while let current = next, current != ManagedObject.self {
        guard let own = state.hooks[ObjectIdentifier(current)] else { return .all }
        hooks.formUnion(own)
        if ClassProperties.has(current) { hooks.insert(.properties) }
        next = _getSuperclass(current)
      }
      return hooks
    }
  }

  /// Whether objects of the entity may have a class of the program's.
  static func names(aClassIn entity: EntityDescription) -> Bool {
    guard let name = entity.managedObjectClassName else { return false }
    return name != "NSManagedObject"
  }

  /// How many libraries the program has loaded: with another one there may be another class.
  static var loads: UInt64 { cairn_library_loads() }

  /// Asks the runtime for a class, which takes longest when there is none, and remembers what it
  /// says.
  private static func search(_ bare: String) -> ManagedObject.Type {
    let (before, generation) = (loads, generation)
    asked.wrappingAdd(1, ordering: .relaxed)
    let type = find(bare)
    state.withLock { state in
      // What was registered meanwhile decides.
      guard generation == self.generation else { return }
      state.lookups[bare] = Lookup(
        entry: type == ManagedObject.self ? nil : Entry(type: type), loads: before)
    }
    return type
  }

  private static func find(_ bare: String) -> ManagedObject.Type {
    var candidates = [bare]
    if !bare.contains(".") {
      candidates.append("\(ProcessInfo.processInfo.processName).\(bare)")
    }
    for candidate in candidates {
      if let type = NamedClass.type(named: candidate) as? ManagedObject.Type { return type }
    }
    // The class may have moved to another module since the model was made.
    guard let last = bare.split(separator: ".").last.map(String.init), last != bare else {
      return ManagedObject.self
    }
    return state.withLock { $0.byClassName[last] }?.type ?? ManagedObject.self
  }

  /// The one entity of the model whose objects have the class; traps when there is none or more.
  static func entity(
    of type: ManagedObject.Type, in model: ManagedObjectModel
  ) -> EntityDescription {
    let matches = entities(of: type, in: model)
    guard matches.count == 1 else {
      // The program uses a class by its type that it did not bind to one entity.
      let name = String(describing: type)
      fatalError(
        "\(name) stands for \(matches.count) entities of the model "
          + "(\(matches.compactMap(\.name).sorted())); it must stand for exactly one. Use "
          + "init(entity:insertInto:), or \(name).registerClass(forEntityName:) (@_spi(Runtime)).")
    }
    return matches[0]
  }

  /// The entity of the objects that a class makes for a model: its own where the class overrides
  /// ``ManagedObject/entity()``, otherwise the one entity of the model that names the class.
  static func entity(
    namedBy type: ManagedObject.Type, orIn model: ManagedObjectModel
  ) -> EntityDescription {
    guard hooks(of: type).contains(.entity) else { return entity(of: type, in: model) }
    let named = type.entity()
    // The class may inherit the method: then this is what the inherited one says.
    let inherited = entity(of: type)
    let isInherited =
      named === inherited || named.managedObjectModel == nil && named.name == inherited.name
    return isInherited ? entity(of: type, in: model) : named
  }

  /// The entity of an object that is made without one and without a context: the class's own, or one
  /// without properties that is called as the class.
  static func entity(ofLone type: ManagedObject.Type) -> EntityDescription {
    let entity = type.entity()
    guard entity.managedObjectModel == nil, entity.layout == nil else { return entity }
    let standIn = EntityDescription(name: String(describing: type))
    let model = ManagedObjectModel()
    model.entities = [standIn]
    // What the object needs of the model stays with the entity.
    try? model.prepareForUse()
    return standIn
  }

  /// The entities of the model whose objects have the class.
  private static func entities(
    of type: ManagedObject.Type, in model: ManagedObjectModel
  ) -> [EntityDescription] {
    GeneratedModules.load()
    learn(type)
    let name = String(describing: type)
    let qualified = String(reflecting: type)
    let registered = state.withLock { state in
      state.byEntityName.filter { $0.value.type == type }.map(\.key)
    }
    let otherNames = state.withLock { state in
      state.byClassName.filter { $0.value.type == type }.map(\.key)
    }
    let named = model.entities.filter { entity in
      if let entityName = entity.name, registered.contains(entityName) { return true }
      guard let className = entity.managedObjectClassName else { return false }
      return className == name || className == qualified || className == "." + name
        || otherNames.contains(className)
    }
    guard named.isEmpty, type != ManagedObject.self else { return named }
    // The class may have moved to another module since the model was made.
    return model.entities.filter { self.type(for: $0) == type }
  }
}

extension ManagedObject {
  /// Makes objects of the entity with this name instances of the class.
  ///
  /// Needed only where the class cannot be found by the name in the model, because it lives in
  /// another module than the program and is not used before the first fetch.
  @_spi(Generated) @_spi(Runtime)
  public class func registerClass(forEntityName name: String) {
    ObjectClasses.register(self, forEntityName: name)
  }

  /// Makes objects of entities that name this class in the model instances of `type`.
  ///
  /// For generated code, where a class has another name in Objective-C (`@objc(Name)`).
  ///
  /// - Parameter members: The base names of the members of ``ManagedObject`` that the class overrides, those
  ///   of its superclass left out; nil where that is not known: its objects count as overriding all, which
  ///   costs time.
  @_spi(Generated) @_spi(Runtime)
  public static func registerClass(
    _ type: ManagedObject.Type, named name: String, overriding members: [String]? = nil
  ) {
    ObjectClasses.learn(type, named: name, overriding: members)
  }

  /// Makes objects of the entity with this name instances of `type`.
  @_spi(Generated) @_spi(Runtime)
  public static func registerClass(_ type: ManagedObject.Type, forEntityName name: String) {
    ObjectClasses.register(type, forEntityName: name)
  }
}
