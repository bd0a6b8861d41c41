import CairnModel
import CairnPredicates
import Foundation

/// How one property of a destination object gets its value.
///
/// Source: `NSPropertyMapping`.
///
/// Filled by one thread before the migration; not changed while it runs.
open class PropertyMapping: NSObject {
  /// The property of the destination entity.
  open var name: String?
  /// What gives the value; nil leaves the destination's default.
  ///
  /// Variables: `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping`,
  /// `$entityPolicy`.
  open var valueExpression: ObjectExpression?
  /// For the program's own use.
  open var userInfo: [AnyHashable: Any]?
  /// Whether the model editor left the expression to be derived from the names, which takes both
  /// models.
  package var isDerived = false

  public override init() { super.init() }

  /// A mapping of a property by an expression.
  package convenience init(_ name: String, _ expression: ObjectExpression?) {
    self.init()
    self.name = name
    valueExpression = expression
  }

  /// A mapping whose expression follows from the names.
  package convenience init(derived name: String) {
    self.init(name, nil)
    isDerived = true
  }

  /// Whether the other says the same of the same property.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? PropertyMapping else { return false }
    return self === other
      || name == other.name && isDerived == other.isDerived
        // Filled in or yet to be: it follows from the names.
        && (isDerived || valueExpression == other.valueExpression)
        && MappingNotes.areEqual(userInfo, other.userInfo)
  }

  open override var hash: Int { name.hashValue }

  open override var description: String {
    "<PropertyMapping: \(name ?? "?") = \(valueExpression?.description ?? "nil")>"
  }
}
