import Foundation

/// One reason why no mapping between two model versions can be inferred.
public struct InferenceRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of reason; stable.
  public enum Code: String, Sendable, Hashable {
    /// The type of an attribute changed.
    case attributeTypeChanged
    /// A relationship to many objects became one to a single object, which would lose the others.
    case toManyBecameToOne
    /// Two entities continue the same one.
    case entitySplit
    /// Entities that were in different inheritance trees are in one.
    case hierarchiesMerged
  }
  public let code: Code
  /// The entity of the destination.
  public let entity: String
  /// The property of the destination, if it is about one; an element of a composite attribute by its
  /// path.
  public let property: String?
  /// What changed and why that needs a mapping model.
  public let reason: String

  public var description: String {
    "\(entity)\(property.map { ".\($0)" } ?? ""): \(reason)"
  }
}

/// What can be inferred of a change, and what cannot.
enum InferenceRules {
  static func refusals(of change: ModelDifference.EntityChange) -> [InferenceRefusal] {
    guard change.source != nil else { return [] }
    let entity = change.destination.name ?? ""
    return change.properties.flatMap { refusals(of: $0, $0.destination.name, entity) }
  }

  private static func refusals(
    of change: ModelDifference.PropertyChange, _ path: String, _ entity: String
  ) -> [InferenceRefusal] {
    let own = refusal(of: change, path, entity).map { [$0] } ?? []
    // No store keeps the elements of a transient attribute.
    if change.destination.isTransient || change.source?.isTransient ?? true { return own }
    return own
      + change.elements.flatMap { refusals(of: $0, "\(path).\($0.destination.name)", entity) }
  }

  private static func refusal(
    of change: ModelDifference.PropertyChange, _ path: String, _ entity: String
  ) -> InferenceRefusal? {
    func refuse(_ code: InferenceRefusal.Code, _ reason: String) -> InferenceRefusal {
      InferenceRefusal(code: code, entity: entity, property: path, reason: reason)
    }
    switch (change.source, change.destination) {
    case (let old as AttributeDescription, let new as AttributeDescription):
      let isStored = !old.isTransient && !new.isTransient
      let isComputed = new is DerivedAttributeDescription
      if isStored, !isComputed, old.attributeType != new.attributeType {
        return refuse(
          .attributeTypeChanged,
          "the type changed from \(old.attributeType.editorName) to "
            + "\(new.attributeType.editorName).")
      }
    case (let old as RelationshipDescription, let new as RelationshipDescription):
      if old.isToMany, !new.isToMany, !old.isTransient, !new.isTransient {
        return refuse(
          .toManyBecameToOne,
          "the relationship led to many objects and now leads to one; all but one would be lost.")
      }
    default: break
    }
    return nil
  }

  /// Entities that shared no ancestor cannot come under one: their rows have keys of their own.
  static func mergedHierarchies(_ changes: [ModelDifference.EntityChange]) -> [InferenceRefusal] {
    var roots: [ObjectIdentifier: EntityDescription] = [:]
    return changes.compactMap { change in
      guard let source = change.source else { return nil }
      let root = change.destination.rootEntity
      let former = source.rootEntity
      guard let first = roots[ObjectIdentifier(root)] else {
        roots[ObjectIdentifier(root)] = former
        return nil
      }
      guard first !== former else { return nil }
      return InferenceRefusal(
        code: .hierarchiesMerged, entity: change.destination.name ?? "", property: nil,
        reason: "the entity was below \(former.name ?? "") and others below "
          + "\(first.name ?? ""); they cannot share the ancestor \(root.name ?? "").")
    }
  }
}
