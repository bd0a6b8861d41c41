import CairnPredicates
import Foundation

/// A fetch request as the model holds it: a template, or the request of a fetched property.
///
/// Contexts turn it into a live request.
public struct FetchRequestTemplate: Sendable {
  public var entityName: String
  public var predicate: ObjectPredicate?
  public var sortDescriptors: [ObjectSortDescriptor] = []
  /// Core Data's raw value: 0 objects, 1 object IDs, 2 dictionaries, 4 count.
  public var resultType: UInt = 0
  public var fetchLimit = 0
  public var fetchOffset = 0
  public var fetchBatchSize = 0
  public var includesSubentities = true
  public var includesPropertyValues = true
  public var returnsObjectsAsFaults = true
  public var includesPendingChanges = true
  public var returnsDistinctResults = false

  public init(entityName: String, predicate: ObjectPredicate? = nil) {
    self.entityName = entityName
    self.predicate = predicate
  }
}

/// A computed, read-only list of objects found by a fetch request.
///
/// Source: `NSFetchedPropertyDescription`.
open class FetchedPropertyDescription: PropertyDescription, @unchecked Sendable {
  /// What to fetch; `$FETCH_SOURCE` in its predicate is the owning object.
  package var template: FetchRequestTemplate? { willSet { willChange() } }

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  override func makeEmptyCopy() -> PropertyDescription { FetchedPropertyDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    (copy as? FetchedPropertyDescription)?.template = template
  }
}
