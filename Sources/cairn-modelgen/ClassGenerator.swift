import CairnModel
import Foundation

/// Makes Swift source of a model: classes where its entities ask for `class`, only the properties
/// where they ask for `category`, nothing for the rest.
struct ClassGenerator {
  let model: ManagedObjectModel
  /// The name of the model file, for the head of the generated one.
  let source: String
  /// Whether the entities' own settings are passed over.
  let generatesAll: Bool

  func text() -> String {
    let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    let parts = entities.compactMap { entity -> String? in
      switch generatesAll ? "class" : entity.codeGenerationType {
      case "class": return classText(entity) + "\n" + extensionText(entity)
      case "category": return extensionText(entity)
      default: return nil
      }
    }
    let head = "// Generated from \(source) by cairn-modelgen. Changes are overwritten.\n"
    return ([head + "\nimport Cairn\nimport Foundation\n"] + parts).joined(separator: "\n")
  }

  /// The Swift name of an entity's class, without module.
  static func className(of entity: EntityDescription) -> String {
    let full = entity.managedObjectClassName ?? "NSManagedObject"
    let name = full.split(separator: ".").last.map(String.init) ?? full
    return name == "NSManagedObject" ? "ManagedObject" : name
  }

  private func classText(_ entity: EntityDescription) -> String {
    let parent = entity.superentity.map(Self.className) ?? "ManagedObject"
    return """
      open class \(escaped(Self.className(of: entity))): \(escaped(parent)) {
      }

      """
  }

  private func extensionText(_ entity: EntityDescription) -> String {
    let name = escaped(Self.className(of: entity))
    var lines = ["extension \(name) {"]
    lines += [
      "  /// A request for all objects of the entity.",
      "  public class func \(entity.superentity == nil ? "fetchRequest" : "fetch\(name)Request")() "
        + "-> FetchRequest<\(name)> {",
      "    FetchRequest<\(name)>(entityName: \(quoted(entity.name ?? "")))", "  }",
    ]
    for property in entity.declaredProperties.sorted(by: { $0.name < $1.name }) {
      lines += self.lines(for: property)
    }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private func lines(for property: PropertyDescription) -> [String] {
    switch property {
    case let attribute as AttributeDescription: return AccessorText(attribute).lines
    case let relationship as RelationshipDescription:
      return RelationshipText(relationship).lines
    case let fetched as FetchedPropertyDescription:
      return [
        "", "  public var \(escaped(fetched.name)): [ManagedObject] {",
        "    value(forKey: \(quoted(fetched.name))) as? [ManagedObject] ?? []", "  }",
      ]
    default: return []
    }
  }
}

/// A Swift identifier, in backticks where it is a keyword.
func escaped(_ name: String) -> String {
  let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "open", "operator", "private", "protocol", "public",
    "rethrows", "static", "struct", "subscript", "typealias", "var", "break", "case", "continue",
    "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat",
    "return", "switch", "where", "while", "as", "catch", "false", "is", "nil", "super", "self",
    "Self", "throw", "throws", "true", "try",
  ]
  return keywords.contains(name) ? "`\(name)`" : name
}

/// A Swift string literal.
func quoted(_ text: String) -> String {
  var result = ""
  for character in text {
    if character == "\\" || character == "\"" { result.append("\\") }
    result.append(character)
  }
  return "\"\(result)\""
}
