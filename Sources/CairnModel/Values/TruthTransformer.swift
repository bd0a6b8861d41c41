import Foundation

/// Foundation's transformers into true and false.
///
/// Unchecked, with its subclasses: they have no state.
class TruthTransformer: ValueTransformer, @unchecked Sendable {
  override class func allowsReverseTransformation() -> Bool { false }
  override class func transformedValueClass() -> AnyClass { NSNumber.self }

  override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: truth(of: value)) }

  func truth(of value: Any?) -> Bool { value == nil }
}

/// Whether a value is nil.
final class IsNilTransformer: TruthTransformer, @unchecked Sendable {}

/// Whether a value is there.
final class IsNotNilTransformer: TruthTransformer, @unchecked Sendable {
  override func truth(of value: Any?) -> Bool { value != nil }
}

/// The other one of true and false, which has a way back; nil counts as false.
final class NegateBooleanTransformer: TruthTransformer, @unchecked Sendable {
  override class func allowsReverseTransformation() -> Bool { true }
  override func truth(of value: Any?) -> Bool { !((value as? NSNumber)?.boolValue ?? false) }
}
