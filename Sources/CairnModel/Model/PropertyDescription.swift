import CairnPredicates
import Foundation

/// What attributes, relationships and fetched properties have in common.
///
/// May be changed until its model is used by a coordinator. Source: `NSPropertyDescription`.
open class PropertyDescription: ModelElement, @unchecked Sendable {
  /// The entity that declares the property; nil until it has been added to one.
  public internal(set) var entity: EntityDescription! {
    get { entityReference?.target }
    set { entityReference = newValue?.looseReference }
  }
  private final var entityReference: LooseReference<EntityDescription>?

  /// The property's name, unique within its entity and the entity's ancestors.
  open var name: String = "" { willSet { willChange() } }
  /// Whether nil passes validation.
  ///
  /// Default true.
  open var isOptional: Bool = true { willSet { willChange() } }
  /// Whether the property is kept in memory only.
  ///
  /// Default false.
  open var isTransient: Bool = false { willSet { willChange() } }
  /// Free-form annotations, empty at first.
  ///
  /// They are in no version hash and may be changed at any time.
  open var userInfo: [AnyHashable: Any]? {
    get { annotations.values }
    set { annotations.values = newValue }
  }
  private final let annotations = Annotations()
  /// Deprecated by Core Data: asks for an index on the column.
  open var isIndexed: Bool = false { willSet { willChange() } }
  /// Kept for compatibility; has no behaviour.
  open var isIndexedBySpotlight: Bool = false { willSet { willChange() } }
  /// Kept for compatibility; has no behaviour.
  open var isStoredInExternalRecord: Bool = false { willSet { willChange() } }
  /// Changes the version hash although nothing else did.
  open var versionHashModifier: String? { willSet { willChange() } }

  /// The name the property had in an older version; defaults to its name.
  open var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set {
      willChange()
      explicitRenamingIdentifier = newValue
    }
  }
  package internal(set) var explicitRenamingIdentifier: String?

  /// Conditions on the property's value, evaluated with the value as the object.
  public private(set) var validationPredicates: [ObjectPredicate] = []
  /// For each predicate the message (`String`) or error code (`NSNumber`/`Int`) of a failure.
  public private(set) var validationWarnings: [Any] = []

  /// Sets the conditions and, for each, what to report when it does not hold.
  ///
  /// A warning is a `String`, looked up as `ErrorString/…` in the localization dictionary, or an
  /// `Int`, then the error's code. Traps when the two lists differ in length, as Core Data does.
  open func setValidationPredicates(
    _ predicates: [ObjectPredicate]?, withValidationWarnings warnings: [Any]?
  ) {
    willChange()
    let predicates = predicates ?? []
    let warnings = warnings ?? []
    guard predicates.count == warnings.count else {
      // Model files are read into pairs; only a program can pass lists of two lengths.
      fatalError(
        "The number of validation predicates (\(predicates.count)) differs from the number of "
          + "warnings (\(warnings.count)) for property \(name).")
    }
    validationPredicates = predicates
    validationWarnings = warnings
  }

  /// The version hash, kept once the model is in use.
  let hashCache = VersionHashCache()

  public override init() { super.init() }

  /// An editable property from an archive; it belongs to no entity and knows others by name.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard let property = ElementCoding.property(from: coder) else { return nil }
    property.copyValues(to: self)
  }

  override func makeCopy() -> ModelElement { copyProperty() }

  /// A new, editable property with the same values that belongs to no entity.
  package func copyProperty() -> PropertyDescription {
    let copy = makeEmptyCopy()
    copyValues(to: copy)
    return copy
  }

  func makeEmptyCopy() -> PropertyDescription { PropertyDescription() }

  func copyValues(to copy: PropertyDescription) {
    copy.name = name
    copy.isOptional = isOptional
    copy.isTransient = isTransient
    copy.userInfo = userInfo
    copy.isIndexed = isIndexed
    copy.isIndexedBySpotlight = isIndexedBySpotlight
    copy.isStoredInExternalRecord = isStoredInExternalRecord
    copy.versionHashModifier = versionHashModifier
    copy.explicitRenamingIdentifier = explicitRenamingIdentifier
    copy.validationPredicates = validationPredicates
    copy.validationWarnings = validationWarnings
  }
}

/// The predicate of a fetched property may look at the property, `$FETCHED_PROPERTY.userInfo.key`.
extension PropertyDescription: KeyValueReading {
  public func value(forKey key: String) -> Any? {
    switch key {
    case "name": return name
    case "userInfo": return userInfo
    case "entity": return entity
    case "isOptional": return isOptional
    case "isTransient": return isTransient
    case "renamingIdentifier": return renamingIdentifier
    default: return nil
    }
  }
}
