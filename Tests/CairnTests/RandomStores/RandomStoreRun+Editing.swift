// What is done to the objects of one context of a random store.

import Cairn
import Foundation

extension RandomStoreRun {
  func concreteEntities(_ desk: Int) -> [EntityDescription] {
    (desks[desk].context.persistentStoreCoordinator?.managedObjectModel.entities ?? [])
      .filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  func insert(_ desk: Int) {
    let entities = concreteEntities(desk)
    if entities.isEmpty { return }
    let entity = random.pick(entities)
    let object = ManagedObject(entity: entity, insertInto: desks[desk].context)
    trail.append("\(desk) insert \(entity.name ?? "")")
    desks[desk].objects.append(object)
    for attribute in attributes(of: entity) where random.below(3) != 0 {
      object.setValue(value(of: attribute), forKey: attribute.name)
    }
  }

  func attributes(of entity: EntityDescription) -> [AttributeDescription] {
    entity.propertiesByName.values.compactMap { $0 as? AttributeDescription }
      .filter { !($0 is DerivedAttributeDescription) }.sorted { $0.name < $1.name }
  }

  func value(of attribute: AttributeDescription) -> Any? {
    let isUnique = shape.entities.contains { $0.unique == attribute.name }
    return RandomValues.value(of: attribute, isUnique: isUnique, &random)
  }

  func anyObject(_ desk: Int) -> ManagedObject? {
    let alive = desks[desk].alive
    return alive.isEmpty ? nil : random.pick(alive)
  }

  func change(_ desk: Int) {
    guard let object = anyObject(desk) else { return }
    let all = attributes(of: object.entity)
    if all.isEmpty { return }
    let attribute = random.pick(all)
    trail.append("\(desk) change \(RandomValues.key(object)) \(attribute.name)")
    object.setValue(value(of: attribute), forKey: attribute.name)
  }

  func delete(_ desk: Int) {
    guard let object = anyObject(desk) else { return }
    trail.append("\(desk) delete \(RandomValues.key(object))")
    desks[desk].context.delete(object)
  }

  func relate(_ desk: Int) {
    guard let object = anyObject(desk) else { return }
    let all = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }
    guard !all.isEmpty else { return }
    let relationship = random.pick(all)
    guard let destination = relationship.destinationEntity else { return }
    let candidates = desks[desk].alive.filter { $0.entity.isKindOf(entity: destination) }
    let name = relationship.name
    trail.append("\(desk) relate \(RandomValues.key(object)) \(name)")
    func note(_ what: String, _ objects: [ManagedObject]) {
      trail[trail.count - 1] += " \(what) \(objects.map(RandomValues.key))"
    }
    if !relationship.isToMany {
      let one = candidates.isEmpty || random.below(5) == 0 ? nil : random.pick(candidates)
      note("=", one.map { [$0] } ?? [])
      object.setValue(one, forKey: name)
    } else if relationship.isOrdered {
      let members = object.mutableOrderedSetValue(forKey: name)
      switch random.below(5) {
      case 0 where members.count > 0:
        note("-", [])
        members.removeObject(at: random.below(members.count))
      case 1 where members.count > 1:
        note("move", [])
        let moved = members.object(at: members.count - 1)
        members.removeObject(at: members.count - 1)
        members.insert(moved, at: random.below(members.count + 1))
      case 2:
        let list = Array(candidates.filter { _ in random.below(2) == 0 }.reversed())
        note("=", list)
        object.setValue(NSOrderedSet(array: list), forKey: name)
      default:
        guard !candidates.isEmpty else { return }
        let member = random.pick(candidates)
        if !members.contains(member) {
          note("+", [member])
          members.insert(member, at: random.below(members.count + 1))
        }
      }
    } else {
      let members = object.mutableSetValue(forKey: name)
      let present = members.allObjects.compactMap { $0 as? ManagedObject }
        .sorted { RandomValues.key($0) < RandomValues.key($1) }
      switch random.below(4) {
      case 0 where !present.isEmpty:
        // Temporary IDs sort differently each time; any member will do then.
        let member = random.pick(present)
        note("-", [member])
        members.remove(member)
      case 1:
        let list = candidates.filter { _ in random.below(2) == 0 }
        note("=", list)
        object.setValue(NSSet(array: list), forKey: name)
      default:
        guard !candidates.isEmpty else { return }
        let member = random.pick(candidates)
        note("+", [member])
        members.add(member)
      }
    }
  }

  func undo(_ desk: Int) {
    guard let manager = desks[desk].context.undoManager else { return }
    if manager.canRedo, random.below(2) == 0 {
      trail.append("\(desk) redo")
      desks[desk].context.redo()
    } else if manager.canUndo {
      trail.append("\(desk) undo")
      desks[desk].context.undo()
    }
  }
}
