// Turns texts that people write into values of the types the model wants.
import ArgumentParser
import CairnControl

/// Reads the values of one entity's properties from text.
struct TypedValues {
  let entity: EntitySummary

  /// Finds the entity in the daemon's model.
  init(entity name: String, model: ModelSummary) throws {
    entity = try model.entity(named: name)
  }

  /// The value of `property` that `text` stands for; no text means null.
  ///
  /// - Parameter isQuoted: Whether quotes stood around it in a file: then no text is an empty one, or no bytes.
  func value(_ text: String, property: String, isQuoted: Bool = false) throws -> JSONValue {
    if let attribute = entity.attributes.first(where: { $0.name == property }) {
      if isQuoted, text.isEmpty, ["String", "Binary"].contains(attribute.type) { return "" }
      if attribute.type == "Composite" { throw unknown(property) }
      return try value(text, attribute)
    }
    if let relationship = entity.relationships.first(where: { $0.name == property }) {
      if text.isEmpty { return relationship.isToMany ? [] : .null }
      if text.hasPrefix("{") || text.hasPrefix("[") { return try reference(text, property) }
      guard relationship.isToMany else { return .string(text) }
      return .array(text.split(separator: ",").map { .string($0.trimmed) })
    }
    throw unknown(property)
  }

  /// - Throws: ``CairnControl/ControlError/unknownProperty(entity:property:nearest:)``.
  func check(_ property: String) throws {
    let isKnown =
      entity.attributes.contains { $0.name == property }
      || entity.relationships.contains { $0.name == property }
    if !isKnown { throw unknown(property) }
  }

  private func unknown(_ property: String) -> ControlError {
    let attributes = entity.attributes.map(\.name)
    if let error = ControlError.composite(property, of: entity.name, leaves: attributes) {
      return error
    }
    let known = attributes + entity.relationships.map(\.name)
    return .unknownProperty(
      entity: entity.name, property: property, nearest: NearestName.find(property, among: known))
  }

  /// References as JSON, as an export writes them.
  private func reference(_ text: String, _ property: String) throws -> JSONValue {
    do {
      return try JSONParser.parse(text)
    } catch let problem as JSONProblem {
      throw ControlError.invalidValue(
        entity: entity.name, property: property, reason: "not JSON: \(problem)")
    }
  }

  /// Refuses what is not `key=value`, and a key that comes twice.
  ///
  /// - Throws: `ValidationError`.
  static func check(_ assignments: [String]) throws {
    var keys: Set<Substring> = []
    for assignment in assignments {
      guard let equals = assignment.firstIndex(of: "=") else {
        throw ValidationError("\"\(assignment)\" is not key=value; key= alone means no value.")
      }
      let key = assignment[..<equals]
      guard keys.insert(key).inserted else {
        throw ValidationError("\(key) is given twice; leave one of them out.")
      }
    }
  }

  /// Reads `key=value` arguments that ``check(_:)`` has passed.
  func values(_ assignments: [String]) throws -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for assignment in assignments {
      let key = String(assignment.prefix { $0 != "=" })
      values[key] = try value(String(assignment.dropFirst(key.count + 1)), property: key)
    }
    return values
  }

  private func value(_ text: String, _ attribute: AttributeSummary) throws -> JSONValue {
    func refuse(_ reason: String) -> ControlError {
      .invalidValue(entity: entity.name, property: attribute.name, reason: reason)
    }
    if attribute.type == "String" { return text.isEmpty ? .null : .string(text) }
    if text.isEmpty { return .null }
    switch attribute.type {
    case "Integer 16", "Integer 32", "Integer 64":
      guard let number = Int64(text) else { throw refuse("\"\(text)\" is not a whole number") }
      return .exact(number)
    case "Double", "Float":
      guard let number = Double(text) else { throw refuse("\"\(text)\" is not a number") }
      return .exact(number)
    case "Boolean":
      switch text.lowercased() {
      case "true", "yes", "1": return true
      case "false", "no", "0": return false
      default: throw refuse("\"\(text)\" is neither true nor false")
      }
    default: return .string(text)
    }
  }
}

extension ModelSummary {
  /// - Throws: ``CairnControl/ControlError/unknownEntity(entity:nearest:)``.
  func entity(named name: String) throws -> EntitySummary {
    guard let entity = entities.first(where: { $0.name == name }) else {
      throw ControlError.unknownEntity(
        entity: name, nearest: NearestName.find(name, among: entities.map(\.name)))
    }
    return entity
  }
}
