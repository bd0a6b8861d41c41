import Foundation

/// Turns the values of transformable attributes into data and back, through the attribute's value
/// transformer.
public enum TransformableCoding {
  /// The stored form of a transformable value.
  ///
  /// - Throws: ``AttributeCodingError`` when the transformer is unknown or refuses the value.
  public static func data(from value: Any, for attribute: AttributeDescription) throws -> Data {
    if let data = try? NSKeyedArchiver.archivedData(
      withRootObject: value, requiringSecureCoding: true)
    {
      return data
    }
    throw AttributeCodingError(
      description: "The value of transformable attribute \(attribute.name) cannot be archived "
        + "securely; make its class adopt NSSecureCoding.")
  }

  /// The value that the data stands for; nil when it cannot be decoded securely.
  public static func object(from data: Data, for attribute: AttributeDescription) -> Any? {
    try? NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
        NSURL.self, NSUUID.self, NSSet.self, NSNull.self,
      ], from: data)
  }
}
