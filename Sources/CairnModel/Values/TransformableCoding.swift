import Foundation

/// Turns the values of transformable attributes into data and back, through the attribute's value
/// transformer.
public enum TransformableCoding {
  /// The stored form of a transformable value.
  ///
  /// - Throws: ``AttributeCodingError`` when the transformer is unknown or refuses the value.
  public static func data(from value: Any, for attribute: AttributeDescription) throws -> Data {
    let transformer = try transformer(of: attribute)
    // Foundation's own transformer is named after the way from data to values.
    let result =
      transformer is SecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    if let data = result as? Data { return data }
    let place = [attribute.entity?.name, attribute.name].compactMap(\.self).joined(separator: ".")
    throw AttributeCodingError(
      description: "The value of transformable attribute \(place) cannot be made into data by "
        + "\(name(of: attribute).rawValue) and read back; its class must adopt NSSecureCoding and be "
        + "one that the transformer allows, with collections at most "
        + "\(SecureArchiving.maximumDepth) deep, or the attribute needs a transformer of its own.")
  }

  /// The value that the data stands for; nil when it cannot be decoded or the transformer is
  /// unknown.
  public static func object(from data: Data, for attribute: AttributeDescription) -> Any? {
    guard let transformer = try? transformer(of: attribute) else { return nil }
    return transformer is SecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }

  private static func name(of attribute: AttributeDescription) -> ValueTransformerName {
    guard let name = attribute.valueTransformerName, !name.isEmpty else {
      return .secureUnarchiveFromDataTransformerName
    }
    // Models that name the constant, or the class, instead of the constant's value.
    switch name {
    case "NSSecureUnarchiveFromDataTransformerName", "NSSecureUnarchiveFromDataTransformer":
      return .secureUnarchiveFromDataTransformerName
    case "NSKeyedUnarchiveFromDataTransformerName":
      return .keyedUnarchiveFromDataTransformerName
    case "NSUnarchiveFromDataTransformerName":
      return .unarchiveFromDataTransformerName
    default: return ValueTransformerName(name)
    }
  }

  private static func transformer(of attribute: AttributeDescription) throws -> ValueTransformer {
    let name = name(of: attribute)
    if let transformer = ValueTransformer.transformer(forName: name) { return transformer }
    if name == .unarchiveFromDataTransformerName {
      throw AttributeCodingError(
        description: "Transformable attribute \(attribute.name) names the value transformer "
          + "\(name.rawValue), whose archives are not keyed and are read on Apple's platforms only; "
          + "name \(ValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue) in the "
          + "model, and migrate existing stores where they can be read.")
    }
    throw AttributeCodingError(
      description: "Transformable attribute \(attribute.name) names the value transformer "
        + "\(name.rawValue), which is not registered; call ValueTransformer.setValueTransformer "
        + "before the store is opened.")
  }
}
