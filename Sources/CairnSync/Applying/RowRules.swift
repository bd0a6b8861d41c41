import CairnContext
import CairnModel
import CairnStore

/// Where rows may be written without objects, and the model's rules for the values of a row.
enum RowRules {
  /// The entities whose rows need no object: no class of the program has a say in them, the model has no
  /// rules for whole relationships or composites, and no relationship is kept in two rows.
  static func plainEntities(of schema: SyncSchema) -> Set<String> {
    var names: Set<String> = []
    for (name, plan) in schema.entities {
      let layout: EntityLayout = plan.entity.layout
      let isPlain =
        layout.ruledToManys.isEmpty && layout.ruledComposites.isEmpty
        && !plan.entity.isAbstract
        && layout.toOneSlots.allSatisfy { slot in
          let inverse = layout.slots[slot].relationship?.inverseRelationship
          return inverse.map(\.isToMany) ?? true
        } && !plan.entity.hasObjectHooks
      if isPlain { names.insert(name) }
    }
    return names
  }

  /// Whether values keep to the rules of the model; false also for what only an object can tell.
  static func hold(for values: [AttributeValue], _ layout: EntityLayout) -> Bool {
    layout.ruledSlots.allSatisfy { slot in
      let value = values[slot]
      switch layout.slots[slot].content {
      case .toOne(let relationship):
        return value.isNull
          ? relationship.isOptional : relationship.validationPredicates.isEmpty
      case .attribute(let attribute):
        if attribute.attributeType == .undefined { return false }
        if value.isNull { return !layout.needsValue(slot) { values[$0].isNull } }
        if attribute.validationPredicates.isEmpty { return true }
        let object = AttributeCoding.decode(value, for: attribute)
        return attribute.validationPredicates.allSatisfy { (try? $0.test(object)) ?? false }
      }
    }
  }
}
