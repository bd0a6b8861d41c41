import CairnModel
import CairnPredicates
import Foundation

/// The text of a managed object, in the form Core Data prints.
enum ObjectDescription {
  static func text(of object: ManagedObject) -> String {
    "<\(type(of: object)): \(address(of: object))> (entity: \(object.entity.name ?? "?"); id: "
      + "\(address(of: object.objectID)) \(object.objectID); data: \(data(of: object)))"
  }

  private static func address(of object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
  }

  private static func data(of object: ManagedObject) -> String {
    guard let slots = object.slots else { return "<fault>" }
    var lines: [String] = []
    for (index, slot) in object.layout.slots.enumerated() {
      let text: String
      switch slots[index] {
      case .null: text = "nil"
      case .string(let string): text = "\"\(string)\""
      case .object(let id): text = "\(id)"
      case .boolean, .integer, .float, .double, .decimal, .date, .data, .uuid, .url:
        text = AttributeCoding.decode(slots[index]).map(PlainText.of) ?? "nil"
      }
      lines.append("    \(slot.name) = \(text);")
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      let value = object.touchedToMany(index)
      let text = value.flatMap { value in
        value.isLoaded ? "\(value.current.map(\.objectID))" : nil
      }
      lines.append("    \(relationship.name) = \(text ?? "<relationship fault>");")
    }
    return "{\n" + lines.joined(separator: "\n") + "\n}"
  }
}
