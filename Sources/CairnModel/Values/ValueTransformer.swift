import CairnPredicates
import Foundation
import Synchronization

/// Turns the values of transformable attributes into data and back. Source: Foundation's
/// `ValueTransformer`, which Linux lacks.
///
/// Subclasses override ``transformedValue(_:)`` to make `Data` of a value, and
/// ``reverseTransformedValue(_:)`` for the way back, and register themselves by name before a store
/// is opened. They may be called on any thread.
// Unchecked: the class has no state; subclasses promise, as Foundation asks, to be callable on any
// thread.
open class ValueTransformer: NSObject, @unchecked Sendable {
  public override init() { super.init() }

  /// The same for a class known only while the program runs (`type.init()`).
  ///
  /// Required, unlike the one without parameter, so that a subclass may override that one as on Apple's
  /// platforms. One with another designated initializer has to.
  @_disfavoredOverload
  public required convenience init(_ nothing: Void = ()) { self.init() }

  /// Whether there is a way back.
  ///
  /// Default true.
  open class func allowsReverseTransformation() -> Bool { true }
  /// The class of transformed values.
  ///
  /// Default `NSData`, as stores need it.
  open class func transformedValueClass() -> AnyClass { NSData.self }

  /// What a value becomes; the default leaves it as it is.
  open func transformedValue(_ value: Any?) -> Any? { value }
  /// What a transformed value was.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    type(of: self).allowsReverseTransformation() ? transformedValue(value) : nil
  }

  // MARK: Registry

  private static let registered = Mutex<[ValueTransformerName: ValueTransformer]>([:])

  /// Makes a transformer known; nil forgets it.
  public static func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: ValueTransformerName
  ) {
    registered.withLock { $0[name] = transformer }
  }

  /// The transformer of a name, those of Foundation included; nil when there is none.
  ///
  /// The same as `ValueTransformer(forName:)`.
  public static func transformer(forName name: ValueTransformerName) -> ValueTransformer? {
    if let known = registered.withLock({ $0[name] }) { return known }
    return own[name]
  }
  private static let own: [ValueTransformerName: ValueTransformer] = {
    // Under either name it reads keyed archives, and writes them so that the other reads them.
    let unarchiving = SecureUnarchiveFromDataTransformer()
    return [
      .secureUnarchiveFromDataTransformerName: unarchiving,
      .keyedUnarchiveFromDataTransformerName: unarchiving,
      .isNilTransformerName: IsNilTransformer(),
      .isNotNilTransformerName: IsNotNilTransformer(),
      .negateBooleanTransformerName: NegateBooleanTransformer(),
    ]
  }()

  /// The names of all registered transformers, those of Foundation included, sorted.
  public static func valueTransformerNames() -> [ValueTransformerName] {
    let names = Set(registered.withLock { Array($0.keys) }).union(own.keys)
    return names.sorted { $0.rawValue < $1.rawValue }
  }
}

extension ValueTransformer: ClusterMember {
  /// The transformer that was registered under a name, those of Foundation included; nil when there
  /// is none.
  public convenience init?(forName name: ValueTransformerName) {
    guard let known = ValueTransformer.transformer(forName: name) else { return nil }
    self.init(replacingWith: known)
  }
}

/// The registered name of a value transformer.
public struct ValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  /// Secure keyed archives; what transformable attributes use unless they name another.
  public static let secureUnarchiveFromDataTransformerName = ValueTransformerName(
    "NSSecureUnarchiveFromData")
  /// Keyed archives of any class, the default of earlier systems.
  ///
  /// Here the same as ``secureUnarchiveFromDataTransformerName``: archives are read and written in
  /// the same form, and classes that are not allowed are refused.
  public static let keyedUnarchiveFromDataTransformerName = ValueTransformerName(
    "NSKeyedUnarchiveFromData")
  /// Archives that are not keyed; Cairn does not read them, so no transformer has this name.
  public static let unarchiveFromDataTransformerName = ValueTransformerName("NSUnarchiveFromData")
  /// Whether a value is nil.
  public static let isNilTransformerName = ValueTransformerName("NSIsNil")
  /// Whether a value is there.
  public static let isNotNilTransformerName = ValueTransformerName("NSIsNotNil")
  /// The other one of true and false; both ways.
  public static let negateBooleanTransformerName = ValueTransformerName("NSNegateBoolean")
}
