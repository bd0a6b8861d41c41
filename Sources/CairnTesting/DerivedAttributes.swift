// Models with derived attributes in few words.

import CairnModel
import CairnPredicates

extension DerivedAttributeDescription {
  /// An attribute that stores keep up to date with an expression such as `books.@count`.
  package convenience init(
    _ name: String, _ type: CairnModel.AttributeType, from expression: String
  ) {
    self.init()
    self.name = name
    attributeType = type
    derivationExpression = ObjectExpression(format: expression)
  }
}
