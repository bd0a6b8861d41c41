import CairnModel

/// What a class of objects implements itself, so that objects of a class that does not are spared
/// the calls: two announcements a change, one call before and after each save, one a property
/// when they are validated.
///
/// Swift cannot be asked whether a class overrides a method. The build plugin reads it in the sources, and
/// the code that it generates tells it with the class
/// (``ManagedObject/registerClass(_:named:overriding:)``). A class that generated code does not tell of counts as one
/// that implements everything, which is right and slower.
struct ClassHooks: OptionSet, Hashable {
  let rawValue: UInt8

  static let changes = Self(rawValue: 1 << 0)
  static let saves = Self(rawValue: 1 << 1)
  static let rules = Self(rawValue: 1 << 2)
  static let fetching = Self(rawValue: 1 << 3)
  static let deletion = Self(rawValue: 1 << 4)
  static let insertion = Self(rawValue: 1 << 5)
  static let entity = Self(rawValue: 1 << 6)
  /// Has ``ClassProperties``.
  static let properties = Self(rawValue: 1 << 7)
  static let all: Self = [
    .changes, .saves, .rules, .fetching, .deletion, .insertion, .entity, .properties,
  ]

  private static let byMember: [String: Self] = [
    "willChangeValue": .changes, "didChangeValue": .changes,
    "willSave": .saves, "didSave": .saves,
    "keyAccessors": .rules, "keyValidators": .rules, "value": .rules, "setValue": .rules,
    "validateValue": .rules, "validateForInsert": .rules, "validateForUpdate": .rules,
    "validateForDelete": .rules,
    "awakeFromFetch": .fetching, "awakeFromInsert": .insertion,
    "prepareForDeletion": .deletion, "entity": .entity,
  ]

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// - Parameter members: The base names of the members that a class overrides; others are passed over.
  init(overriding members: [String]) {
    self = members.reduce(into: []) { $0.formUnion(Self.byMember[$1] ?? []) }
  }

  /// Those that its objects are asked for on their way through a context.
  var flags: ObjectFlags {
    var flags: ObjectFlags = []
    if contains(.changes) { flags.insert(.hasChangeHooks) }
    if contains(.saves) { flags.insert(.hasSaveHooks) }
    if contains(.rules) { flags.insert(.hasRuleHooks) }
    if contains(.fetching) { flags.insert(.hasFetchHook) }
    if contains(.deletion) { flags.insert(.hasDeletionHook) }
    if contains(.properties) { flags.insert(.hasClassProperties) }
    return flags
  }
}

extension EntityDescription {
  /// Whether objects of the entity may be of a class that has a say in what is written: such rows are to
  /// be written through objects.
  package var hasObjectHooks: Bool {
    !ObjectClasses.hooks(of: ObjectClasses.type(for: self)).subtracting([.entity, .properties])
      .isEmpty
  }
}
