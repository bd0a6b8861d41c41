import Crypto
import Foundation
import Synchronization

// Version hashes: what decides whether a store fits a model. The bytes equal Apple's.
//
//   base(p) = SHA256(name, isOptional, isTransient, versionHashModifier)
//   attribute = SHA256(base, int32 type, 01 if external storage, 01 if kept in history)
//   derived attribute = SHA256(text of the expression, text of the filter)
//   relationship = SHA256(base, destination, inverse, int32 max, int32 min, 01 00 if ordered)
//   entity = SHA256(name, isAbstract, hash of the superentity, hashes of all persistent
//            properties by name, versionHashModifier, uniqueness constraints)
//
// Strings are UTF-8 without length or terminator, flags one byte, integers little-endian.

/// Collects the bytes of one hash.
private struct VersionHasher {
  private var hasher = SHA256()

  mutating func add(_ text: String) { hasher.update(data: Data(text.utf8)) }
  mutating func add(_ data: Data) { hasher.update(data: data) }
  mutating func add(_ flag: Bool) { hasher.update(data: [flag ? 1 : 0] as [UInt8]) }
  mutating func add(_ number: Int) {
    let bits = UInt32(truncatingIfNeeded: number)
    hasher.update(data: (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) } as [UInt8])
  }
  mutating func add(bytes: [UInt8]) { hasher.update(data: bytes) }
  func finish() -> Data { Data(hasher.finalize()) }
}

extension String {
  /// Code point order, in which Core Data sorts what it hashes.
  package func precedesByCodePoints(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension PropertyDescription {
  /// The 32 bytes that change when the stored form of the property changes.
  public var versionHash: Data { hashCache.value(isFrozen: isFrozen) { PropertyHash.of(self) } }
}

extension EntityDescription {
  /// The 32 bytes that change when the stored form of the entity or an ancestor changes.
  ///
  /// Computed on every call while the model can be changed, once after that.
  public var versionHash: Data { hashCache.value(isFrozen: isFrozen) { EntityHash.of(self) } }
}

/// The hash of one property, by kind.
private enum PropertyHash {
  static func of(_ property: PropertyDescription) -> Data {
    var hasher = VersionHasher()
    if let derived = property as? DerivedAttributeDescription {
      if let expression = derived.derivationExpression { hasher.add(expression.description) }
      if let filter = derived.filteringPredicate { hasher.add(filter.description) }
      return hasher.finish()
    }
    let base = base(of: property)
    if let attribute = property as? AttributeDescription {
      hasher.add(base)
      hasher.add(Int(attribute.attributeType.rawValue))
      if attribute.allowsExternalBinaryDataStorage { hasher.add(true) }
      if attribute.preservesValueInHistoryOnDeletion { hasher.add(true) }
      if let composite = attribute as? CompositeAttributeDescription {
        let leaves = composite.flattenedElements.sorted { $0.name.precedesByCodePoints($1.name) }
        for leaf in leaves { hasher.add(leaf.versionHash) }
      }
      return hasher.finish()
    }
    if let relationship = property as? RelationshipDescription {
      hasher.add(base)
      hasher.add(relationship.destinationEntity?.name ?? relationship.destinationEntityName ?? "")
      if relationship.inverseRelationship !== relationship {
        hasher.add(
          relationship.inverseRelationship?.name ?? relationship.inverseRelationshipName ?? "")
      }
      hasher.add(relationship.maxCount)
      hasher.add(relationship.minCount)
      if relationship.isOrdered { hasher.add(bytes: [1, 0]) }
      return hasher.finish()
    }
    return base
  }

  private static func base(of property: PropertyDescription) -> Data {
    var hasher = VersionHasher()
    hasher.add(property.name)
    hasher.add(property.isOptional)
    hasher.add(property.isTransient)
    if let modifier = property.versionHashModifier { hasher.add(modifier) }
    return hasher.finish()
  }
}

extension CompositeAttributeDescription {
  /// The elements that are no groups themselves, at any depth.
  package var flattenedElements: [AttributeDescription] {
    elements.flatMap { ($0 as? CompositeAttributeDescription)?.flattenedElements ?? [$0] }
  }

  /// The paths of the same, such as `address.city` where the composite is at `address`.
  package func flattenedPaths(below path: String) -> [String] {
    elements.flatMap { element -> [String] in
      let path = "\(path).\(element.name)"
      return (element as? CompositeAttributeDescription)?.flattenedPaths(below: path) ?? [path]
    }
  }
}

/// The hash of an entity.
private enum EntityHash {
  static func of(_ entity: EntityDescription) -> Data {
    var hasher = VersionHasher()
    hasher.add(entity.name ?? "")
    hasher.add(entity.isAbstract)
    if let superentity = entity.superentity { hasher.add(superentity.versionHash) }
    let properties = entity.properties
      .filter { !$0.isTransient && !($0 is FetchedPropertyDescription) }
      .sorted { $0.name.precedesByCodePoints($1.name) }
    for property in properties { hasher.add(property.versionHash) }
    if let modifier = entity.versionHashModifier { hasher.add(modifier) }
    let constraints = entity.constraintNames.map { $0.joined(separator: ".") }
    for constraint in constraints.sorted(by: { $0.precedesByCodePoints($1) }) {
      hasher.add(constraint)
    }
    return hasher.finish()
  }
}

/// Keeps a version hash once the element it belongs to can no longer change.
///
/// State: the hash, inside the mutex. It is computed outside, so that a hash may ask for others;
/// two threads may compute it at once and then store the same bytes.
package final class VersionHashCache: Sendable {
  private let stored = Mutex<Data?>(nil)

  package init() {}

  package func value(isFrozen: Bool, compute: () -> Data) -> Data {
    guard isFrozen else { return compute() }
    if let known = stored.withLock({ $0 }) { return known }
    let hash = compute()
    stored.withLock { $0 = hash }
    return hash
  }
}
