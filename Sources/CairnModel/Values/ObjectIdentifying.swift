import CairnPredicates
import Foundation

// Object IDs as predicates know them.

/// Something that stands for a managed object: the object itself or its ID.
package protocol ObjectIdentifying: IdentifiedObject {
  var objectID: ManagedObjectID { get }
}

extension ObjectIdentifying {
  package var identity: any PredicateObjectID { objectID }
}

extension ManagedObjectID: ObjectIdentifying, PredicateObjectID {
  package var objectID: ManagedObjectID { self }

  package var namedEntity: any NamedEntity { entity }

  package func order(comparedTo other: any PredicateObjectID) -> ComparisonResult {
    guard let other = other as? ManagedObjectID else { return .orderedSame }
    let (own, foreign) = (sortKey, other.sortKey)
    return own < foreign
      ? .orderedAscending : (own == foreign ? .orderedSame : .orderedDescending)
  }

  /// By store, then key as a database sorts rows; the entity only tells hierarchies apart.
  private var sortKey: (String, Int, UInt64, String, String) {
    let store = storeIdentity?.identifier ?? ""
    let entity = entity.name ?? ""
    switch key {
    case .row(let number): return (store, 0, UInt64(bitPattern: number), "", entity)
    case .reference(let text): return (store, 1, 0, text, entity)
    case .temporary(let number): return (store, 2, number, "", entity)
    }
  }
}

extension EntityDescription: NamedEntity {}

extension PredicateValue {
  /// What a managed object or object ID stands for; nil for every other value.
  package var managedObjectID: ManagedObjectID? { identity as? ManagedObjectID }
}
