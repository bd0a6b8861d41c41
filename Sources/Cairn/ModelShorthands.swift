// Models in code, in one line an element. Disfavoured, so that Cairn's own modules, which have the
// same below, do not have to choose.
import CairnModel

extension EntityDescription {
  /// An entity in one line, with its own properties.
  @_disfavoredOverload
  public convenience init(name: String, properties: [PropertyDescription] = []) {
    self.init()
    self.name = name
    self.properties = properties
  }
}

extension AttributeDescription {
  /// An attribute in one line.
  @_disfavoredOverload
  public convenience init(
    name: String, type: CairnModel.AttributeType, isOptional: Bool = true,
    defaultValue: Any? = nil
  ) {
    self.init()
    self.name = name
    attributeType = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
  }
}
