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
  public var includesPendingChanges = true
  /// The name that the editor's document has for the request of a fetched property, which means nothing.
  package var editorName: String?
  package var objects = ObjectResults()
  package var dictionaries = DictionaryResults()

  public init(entityName: String, predicate: ObjectPredicate? = nil) {
    self.entityName = entityName
    self.predicate = predicate
  }

  /// The request after an entity was renamed.
  func renaming(_ former: String, to name: String) -> FetchRequestTemplate {
    guard entityName == former else { return self }
    var copy = self
    copy.entityName = name
    return copy
  }
}

extension FetchRequestTemplate {
  /// How objects are read.
  package struct ObjectResults: Sendable, Equatable {
    package var includesPropertyValues = true
    package var returnsObjectsAsFaults = true
    package var relationshipKeyPathsForPrefetching: [String]?
    package var shouldRefreshRefetchedObjects = false
  }

  /// What dictionaries consist of.
  package struct DictionaryResults: Sendable {
    package var propertiesToFetch: [Column]?
    package var propertiesToGroupBy: [Column]?
    package var havingPredicate: ObjectPredicate?
    package var returnsDistinctResults = false
  }

  /// A column of dictionaries.
  package enum Column: Sendable {
    /// The name of a property, or a key path.
    case path(String)
    case computed(ExpressionDescription)

    /// What a fetch request lists: names and descriptions; of a computed column a copy is kept.
    package init(_ property: Any) {
      switch property {
      case let computed as ExpressionDescription: self = Self.computed(computed).copy
      case let property as PropertyDescription: self = .path(property.name)
      default: self = .path("\(property)")
      }
    }

    /// The name, or a copy of the description.
    package var property: Any {
      switch copy {
      case .path(let path): return path
      case .computed(let computed): return computed
      }
    }

    private var copy: Self {
      guard case .computed(let computed) = self,
        let copy = computed.copyProperty() as? ExpressionDescription
      else { return self }
      return .computed(copy)
    }
  }

  public var includesPropertyValues: Bool {
    get { objects.includesPropertyValues }
    set { objects.includesPropertyValues = newValue }
  }
  public var returnsObjectsAsFaults: Bool {
    get { objects.returnsObjectsAsFaults }
    set { objects.returnsObjectsAsFaults = newValue }
  }
  public var returnsDistinctResults: Bool {
    get { dictionaries.returnsDistinctResults }
    set { dictionaries.returnsDistinctResults = newValue }
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
