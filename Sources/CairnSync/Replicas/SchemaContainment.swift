import CairnCoordinator
import CairnModel

extension SyncSchema {
  /// Whether another version of the model, which is in use, has all that this one has, in the same
  /// shape: then a daemon that knows only this one can read and write stores of the other, and leaves
  /// the rest alone.
  func isContained(in other: ManagedObjectModel) -> Bool {
    let difference = ModelDifference(from: model, to: other)
    let loss = MigrationLoss(difference)
    guard difference.isInferable, loss.isEmpty,
      let schema = try? SyncSchema(model: other, defaultPolicy: .lastWriter, policies: [:])
    else { return false }
    let translation = SchemaTranslation(from: names, to: schema)
    // Which of two inverse relationships carries the data follows from their names.
    let hasColumns = entities.allSatisfy { name, plan in
      let theirs = schema.entities[translation.entity(name)]
      return plan.columns.allSatisfy { column in
        theirs?.names.place(of: translation.property(column.name, of: name)) != nil
      }
    }
    let hasLinks = links.allSatisfy { name, plan in
      let entity = plan.relationship.entity?.name ?? ""
      let own = translation.property(plan.relationship.name, of: entity)
      return schema.links["\(translation.entity(entity)).\(own)"]?.isSymmetric == plan.isSymmetric
    }
    return hasColumns && hasLinks && difference.entities.allSatisfy(Self.keepsTypes)
  }

  private static func keepsTypes(_ change: ModelDifference.EntityChange) -> Bool {
    change.properties.allSatisfy { property in
      switch (property.source, property.destination) {
      case (let old as RelationshipDescription, let new as RelationshipDescription):
        return old.isToMany == new.isToMany && old.isOrdered == new.isOrdered
          && old.inverseRelationship?.isToMany == new.inverseRelationship?.isToMany
      case (let old as AttributeDescription, let new as AttributeDescription):
        return old.attributeType == new.attributeType && old.isTransient == new.isTransient
      default: return true
      }
    }
  }
}
