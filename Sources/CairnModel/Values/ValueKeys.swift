import CairnPredicates
import Foundation

// Keys that the values of attributes have themselves, as in `name.length`.

extension AttributeType {
  /// Whether values of this type have a key, for key paths that go on after an attribute.
  ///
  /// Predicates cannot look inside transformable values.
  package func hasKey(_ key: String) -> Bool {
    sample?.hasProperty(key) ?? false
  }

  /// Some value of the type; which one does not matter to the keys it has.
  private var sample: PredicateValue? {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean:
      return .integer(0)
    case .string: return .string("")
    case .date: return .date(Date(timeIntervalSinceReferenceDate: 0))
    case .binaryData: return .data(Data())
    case .uuid: return .uuid(UUID())
    case .uri: return .url(URL(fileURLWithPath: "/"))
    case .undefined, .transformable, .objectID, .composite: return nil
    }
  }
}
