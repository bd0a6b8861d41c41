import CairnPredicates
import Foundation

/// A computed column of a fetch whose results are dictionaries, or of an index; never part of an
/// entity.
///
/// Source: `NSExpressionDescription`.
open class ExpressionDescription: PropertyDescription, @unchecked Sendable {
  /// What to compute for each object or group.
  open var expression: ObjectExpression? { willSet { willChange() } }
  /// The type of the result.
  open var expressionResultType: AttributeType = .undefined { willSet { willChange() } }
  /// The same as ``expressionResultType``, in the words of Core Data's Swift overlay.
  public var resultType: AttributeDescription.AttributeType {
    get { AttributeDescription.AttributeType(rawValue: expressionResultType) }
    set { expressionResultType = newValue.rawValue }
  }

  public override init() { super.init() }
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard let column = ElementCoding.property(from: coder) as? DerivedAttributeDescription else {
      return nil
    }
    expression = column.derivationExpression
    expressionResultType = column.attributeType
  }

  override func makeEmptyCopy() -> PropertyDescription { ExpressionDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? ExpressionDescription else { return }
    copy.expression = expression
    copy.expressionResultType = expressionResultType
  }
}
