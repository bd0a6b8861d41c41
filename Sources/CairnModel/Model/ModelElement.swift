import Foundation

/// What models, entities, properties and indexes have in common: they can be changed until a
/// coordinator takes the model, and never again after.
// Unchecked: the mutable phase belongs to the one thread that builds the model; `freeze` ends it
// before the model is handed to a coordinator, and every setter traps from then on. What is
// computed lazily afterwards is guarded by mutexes.
open class ModelElement: NSObject, @unchecked Sendable {
  /// Whether the model is in use and can no longer be changed.
  public private(set) var isFrozen = false

  package override init() { super.init() }

  /// Ends the mutable phase of this element (subclasses end that of their parts too).
  package func freeze() { isFrozen = true }

  /// Called by every setter.
  ///
  /// Core Data raises here as well: it is a programmer's mistake.
  final func willChange() {
    if isFrozen { fatalError("Can't modify an immutable model.") }
  }

  /// Whether both say the same about what they describe; identity does not matter, nor does what
  /// they are part of.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ModelElement else { return false }
    return self === other || ModelEquality.areEqual(self, other)
  }

  public override var hash: Int { ModelEquality.hash(of: self) }
}
