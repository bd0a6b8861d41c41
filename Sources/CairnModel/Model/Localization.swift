import Foundation

// What people read instead of the names in a model. The dictionary's keys:
//
//   Entity/NAME                       an entity's name
//   Property/NAME/Entity/ENTITY       a property's name in one entity
//   Property/NAME                     a property's name in all others
//   ErrorString/TEXT                  a validation message

extension ManagedObjectModel {
  /// The name of an entity for people; its own when there is no other.
  package func localizedName(of entity: EntityDescription) -> String {
    let name = entity.name ?? ""
    return localizationDictionary?["Entity/\(name)"] ?? name
  }

  /// The name of a property for people: that in the entity, in an ancestor, in any entity, or its
  /// own.
  package func localizedName(
    of property: PropertyDescription, in entity: EntityDescription
  ) -> String {
    guard let texts = localizationDictionary else { return property.name }
    var next: EntityDescription? = entity
    while let current = next {
      if let text = texts["Property/\(property.name)/Entity/\(current.name ?? "")"] { return text }
      next = current.superentity
    }
    return texts["Property/\(property.name)"] ?? property.name
  }

  /// A validation message for people; the text itself when there is no other.
  package func localizedErrorString(_ text: String) -> String {
    localizationDictionary?["ErrorString/\(text)"] ?? text
  }

  /// A request from a template, with the values of all its variables; nil for an unknown name.
  ///
  /// To compare with nil give `NSNull`.
  package func template(
    named name: String, substitutionVariables variables: [String: Any]
  ) -> FetchRequestTemplate? {
    guard var template = templatesByName[name] else { return nil }
    template.predicate = template.predicate?.withSubstitutionVariables(variables)
    return template
  }
}
