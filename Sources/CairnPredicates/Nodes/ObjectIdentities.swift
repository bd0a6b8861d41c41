import Foundation

// What predicates know of objects that stores keep. The model, which stands above, has the one kind of
// identity there is: `ManagedObjectID`.

/// The identity of an object that a store keeps: predicates compare and sort objects by it.
///
/// Equality and hash are those of `NSObject`.
package protocol PredicateObjectID: NSObject, IdentifiedObject, Sendable {
  /// What a key path reads as `entity`.
  var namedEntity: any NamedEntity { get }

  /// The total order of identities: by store, then as a database sorts the store's rows.
  func order(comparedTo other: any PredicateObjectID) -> ComparisonResult
}

/// Something that stands for such an object: the object itself or its identity.
package protocol IdentifiedObject {
  var identity: any PredicateObjectID { get }

  /// Whether instances are identities themselves: asked for each value, cheaper than a cast.
  static var isIdentity: Bool { get }
}

extension IdentifiedObject {
  package static var isIdentity: Bool { false }
}

extension PredicateObjectID {
  package static var isIdentity: Bool { true }
}

/// The entity of an object, of which a key path can read the `name` and nothing else.
package protocol NamedEntity: AnyObject {
  var name: String? { get }
}
