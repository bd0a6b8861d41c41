import Foundation

/// Foundation's transformers into true and false.
class TruthTransformer: ValueTransformer, @unchecked Sendable {
  enum Kind {
    case isNil, isNotNil, negation
  }
  // Unchecked, with its subclass: this is all they have, and it does not change.
  private let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
    super.init()
  }

  override class func allowsReverseTransformation() -> Bool { false }
  override class func transformedValueClass() -> AnyClass { NSNumber.self }

  override func transformedValue(_ value: Any?) -> Any? {
    switch kind {
    case .isNil: NSNumber(value: value == nil)
    case .isNotNil: NSNumber(value: value != nil)
    case .negation: NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
    }
  }
}

/// The one of them that has a way back.
final class NegateBooleanTransformer: TruthTransformer, @unchecked Sendable {
  override class func allowsReverseTransformation() -> Bool { true }
}
