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
  /// Foundation writes `ValueTransformer(forName:)`; a Swift initialiser cannot give back an object
  /// that exists already.
  public static func transformer(forName name: ValueTransformerName) -> ValueTransformer? {
    if let known = registered.withLock({ $0[name] }) { return known }
    return name == .secureUnarchiveFromDataTransformerName ? secureUnarchiving : nil
  }
  private static let secureUnarchiving = SecureUnarchiveFromDataTransformer()

  /// The names of all registered transformers, those of Foundation included, sorted.
  public static func valueTransformerNames() -> [ValueTransformerName] {
    let names = Set(registered.withLock { Array($0.keys) }).union([
      .secureUnarchiveFromDataTransformerName
    ])
    return names.sorted { $0.rawValue < $1.rawValue }
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
}
