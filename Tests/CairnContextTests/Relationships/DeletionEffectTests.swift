// What a deletion takes along, decided from the model alone.

import CairnModel
import Foundation
import Testing

@testable import CairnContext

/// Chapter 8: no context, no coordinator and no store are made here.
@Suite struct DeletionEffectTests {
  /// The effect of a rule on a relationship with an inverse, or without one.
  private static func effect(
    _ rule: DeleteRule, inverse: (isToMany: Bool, isOwnToMany: Bool)?
  ) -> DeletionEffect {
    let (here, there) = (EntityDescription(name: "Here"), EntityDescription(name: "There"))
    let (own, back) = (RelationshipDescription(), RelationshipDescription())
    (own.name, back.name) = ("there", "back")
    own.deleteRule = rule
    own.maxCount = inverse?.isOwnToMany == false ? 1 : 0
    back.maxCount = inverse?.isToMany == false ? 1 : 0
    own.destinationEntity = there
    back.destinationEntity = here
    if inverse != nil { (own.inverseRelationship, back.inverseRelationship) = (back, own) }
    here.properties = [own]
    there.properties = [back]
    // Relationships do not keep their entities.
    return withExtendedLifetime((here, there, back)) { DeletionEffect(of: own) }
  }

  private static let oneToMany = (isToMany: false, isOwnToMany: true)
  private static let manyToOne = (isToMany: true, isOwnToMany: false)
  private static let manyToMany = (isToMany: true, isOwnToMany: true)

  @Test(arguments: [DeleteRule.noAction, .deny])
  func rulesWithoutActionFollowNothing(rule: DeleteRule) {
    for inverse in [Self.oneToMany, Self.manyToOne, Self.manyToMany, nil] {
      let effect = Self.effect(rule, inverse: inverse)
      #expect(!effect.isFollowed)
    }
  }

  @Test func nullifyDetachesMembersThatLeadBack() {
    for inverse in [Self.oneToMany, Self.manyToOne] {
      let effect = Self.effect(.nullify, inverse: inverse)
      #expect(effect.members == .detached && !effect.removesLinks)
    }
  }

  @Test func nullifyWithoutInverseFollowsNothing() {
    #expect(!Self.effect(.nullify, inverse: nil).isFollowed)
  }

  @Test func linksGoWithEitherEndAndMembersStay() {
    let effect = Self.effect(.nullify, inverse: Self.manyToMany)
    #expect(effect.members == .nothing && effect.removesLinks && effect.isFollowed)
  }

  @Test func cascadeDeletesMembersAndTheirLinks() {
    for inverse in [Self.oneToMany, Self.manyToOne, nil] {
      let effect = Self.effect(.cascade, inverse: inverse)
      #expect(effect.members == .deleted && !effect.removesLinks)
    }
    let effect = Self.effect(.cascade, inverse: Self.manyToMany)
    #expect(effect.members == .deleted && effect.removesLinks)
  }

  // MARK: By key

  /// A shelf with boxes, which lead back and to a label by the rule.
  private static func boxes(
    label rule: DeleteRule
  ) throws -> (model: ManagedObjectModel, box: EntityDescription, shelf: RelationshipDescription) {
    let (shelf, box, label) = (
      EntityDescription(name: "Shelf"), EntityDescription(name: "Box"),
      EntityDescription(name: "Label")
    )
    func link(
      _ name: String, _ destination: EntityDescription, _ rule: DeleteRule, isToMany: Bool
    ) -> RelationshipDescription {
      let result = RelationshipDescription()
      result.name = name
      result.destinationEntity = destination
      result.deleteRule = rule
      result.maxCount = isToMany ? 0 : 1
      return result
    }
    let boxes = link("boxes", box, .cascade, isToMany: true)
    let back = link("shelf", shelf, .nullify, isToMany: false)
    (boxes.inverseRelationship, back.inverseRelationship) = (back, boxes)
    let labelled = link("label", label, rule, isToMany: false)
    let box1 = link("box", box, .nullify, isToMany: false)
    (labelled.inverseRelationship, box1.inverseRelationship) = (box1, labelled)
    shelf.properties = [boxes]
    box.properties = [back, labelled]
    label.properties = [box1]
    let model = ManagedObjectModel()
    model.entities = [shelf, box, label]
    try model.prepareForUse()
    return (model, box, back)
  }

  @Test func membersThatLeadNowhereElseAreDeletedByKey() throws {
    let (model, box, shelf) = try Self.boxes(label: .noAction)
    #expect(DeletionEffect.needsNoValues(of: box, [], inverse: shelf))
    withExtendedLifetime(model) {}
  }

  @Test(arguments: [DeleteRule.nullify, .cascade, .deny])
  func membersWithRulesOfTheirOwnAreRead(rule: DeleteRule) throws {
    let (model, box, shelf) = try Self.boxes(label: rule)
    #expect(!DeletionEffect.needsNoValues(of: box, [], inverse: shelf))
    withExtendedLifetime(model) {}
  }

  @Test func membersOfAClassThatHearsOfItAreRead() throws {
    let (model, box, shelf) = try Self.boxes(label: .noAction)
    for trait: ObjectFlags in [.hasDeletionHook, .hasSaveHooks, .hasRuleHooks] {
      #expect(!DeletionEffect.needsNoValues(of: box, trait, inverse: shelf))
    }
    withExtendedLifetime(model) {}
  }
}
