import Foundation
import Synchronization

/// What models, entities, properties and indexes have in common: they can be changed until a
/// coordinator takes the model, and never again after.
// Unchecked: the mutable phase belongs to the one thread that builds the model; `freeze` ends it
// before the model is handed to a coordinator, and every setter traps from then on. What is
// computed lazily afterwards is guarded by mutexes.
open class ModelElement: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// Whether the model is in use and can no longer be changed.
  package private(set) var isFrozen = false

  package override init() { super.init() }

  // MARK: Copying and archiving

  /// A deep, editable copy; see ``makeCopy()``.
  public final func copy(with zone: NSZone? = nil) -> Any { makeCopy() }

  /// A deep, editable copy of the element that is part of nothing.
  func makeCopy() -> ModelElement { ModelElement() }

  /// Elements can be archived securely: as a compiled model, whose reader makes no classes by name.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the element; fails the coder for what archives cannot hold, such as a block predicate.
  public final func encode(with coder: NSCoder) { ElementCoding.encode(self, with: coder) }

  /// Subclasses of the library take their values from the archive after this.
  public required init?(coder: NSCoder) { super.init() }

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

  /// The element and its parts as text, in the manner of Core Data.
  open override var description: String { ModelDescribing.text(of: self) }
}

/// The `userInfo` of a model element, which may change while the model is in use on many threads.
// Unchecked: the one property is used under the mutex; what the values themselves are is up to the
// program that puts them there, as for all that it shares.
final class Annotations: @unchecked Sendable {
  private let mutex = Mutex<Void>(())
  private var current: [AnyHashable: Any]? = [:]

  var values: [AnyHashable: Any]? {
    get { mutex.withLock { _ in current } }
    set {
      // Given up outside of the lock: whatever is freed then may ask for annotations.
      var old: [AnyHashable: Any]?
      mutex.withLock { _ in (old, current) = (current, newValue) }
      withExtendedLifetime(old) {}
    }
  }
}
