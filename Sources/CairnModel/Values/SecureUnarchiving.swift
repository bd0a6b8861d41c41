import CairnPredicates
import Foundation

/// Reads keyed archives that ``ArchiveGate`` has admitted.
enum SecureUnarchiving {
  /// The root object; nil for an archive that is not admitted, or where something in it fails to decode.
  static func root(of data: Data, allowing allowed: [AnyClass]) -> Any? {
    guard let admitted = ArchiveGate.admitted(data, allowing: allowed) else { return nil }
    guard admitted.mayFailInDictionary else {
      return decode(in: data, allowing: allowed)
    }
    guard let (archive, keys) = exposing(admitted.objects, of: data) else { return nil }
    return decode(first: keys, in: archive, allowing: allowed)
  }

  /// - Parameter keys: Of objects beside the root, which are decoded before it.
  private static func decode(
    first keys: [String] = [], in data: Data, allowing allowed: [AnyClass]
  ) -> Any? {
    guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
    unarchiver.requiresSecureCoding = true
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    unarchiver.setClass(DecimalNumber.self, forClassName: "NSDecimalNumber")
    defer { unarchiver.finishDecoding() }
    for key in keys {
      _ = unarchiver.decodeObject(of: allowed, forKey: key)
      if unarchiver.error != nil { return nil }
    }
    let root = unarchiver.decodeObject(of: allowed, forKey: NSKeyedArchiveRootObjectKey)
    return unarchiver.error == nil ? root : nil
  }

  /// The archive with objects of it beside the root, and their keys there.
  ///
  /// Foundation's dictionaries on Linux read past the end of memory when something in them fails to decode,
  /// such as an object of the program's whose `init(coder:)` refuses what it finds. What was decoded by
  /// itself before, a dictionary only takes from the unarchiver.
  private static func exposing(_ objects: [Int], of data: Data) -> (Data, [String])? {
    guard
      var list = try? PropertyListSerialization.propertyList(from: data, format: nil)
        as? [String: Any],
      var top = list["$top"] as? [String: Any],
      // Foundation has no public way to make a reference.
      let references = try? PropertyListSerialization.propertyList(
        from: BinaryPropertyListWriter.write(.array(objects.map { .uid($0) })), format: nil)
        as? [Any]
    else { return nil }
    let keys = objects.map { "CairnObject\($0)" }
    for (key, reference) in zip(keys, references) { top[key] = reference }
    list["$top"] = top
    let format = PropertyListSerialization.PropertyListFormat.binary
    return (try? PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
      .map { ($0, keys) }
  }
}
