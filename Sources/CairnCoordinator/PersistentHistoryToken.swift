import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// A place in the history of one or more stores: the number of the last transaction seen in each.
///
/// Opaque, immutable, comparable with `==`, and archivable. Source: `NSPersistentHistoryToken`.
// Unchecked: its only property is an immutable dictionary of Sendable values.
public final class PersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable
{
  /// The transaction number by store UUID.
  package let numbers: [String: Int64]

  package init(numbers: [String: Int64]) {
    self.numbers = numbers
    super.init()
  }

  /// The number for a store, nil when the token does not know the store.
  package func number(for store: PersistentStore) -> Int64? {
    numbers[store.identity.identifier]
  }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? PersistentHistoryToken)?.numbers == numbers
  }
  public override var hash: Int { numbers.hashValue }
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public static var supportsSecureCoding: Bool { true }

  public func encode(with coder: NSCoder) {
    let stores = numbers.keys.sorted()
    coder.encode(
      stores.joined(separator: "\n") as NSString, forKey: "stores")
    coder.encode(
      stores.map { String(numbers[$0] ?? 0) }.joined(separator: "\n") as NSString,
      forKey: "numbers")
  }

  public init?(coder: NSCoder) {
    guard
      let stores = coder.decodeObject(of: NSString.self, forKey: "stores") as String?,
      let texts = coder.decodeObject(of: NSString.self, forKey: "numbers") as String?
    else { return nil }
    let names = stores.split(separator: "\n").map(String.init)
    let values = texts.split(separator: "\n").compactMap { Int64($0) }
    guard names.count == values.count else { return nil }
    numbers = Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
    super.init()
  }

  public override var description: String {
    "<PersistentHistoryToken: "
      + numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      + ">"
  }
}

/// One token comes before another when it does in each store that both know.
extension PersistentHistoryToken: PredicateOrdered {
  package func order(comparedTo other: Any) -> ComparisonResult? {
    guard let other = other as? PersistentHistoryToken else { return nil }
    var result: ComparisonResult?
    for (store, number) in numbers {
      guard let otherNumber = other.numbers[store] else { continue }
      let order: ComparisonResult =
        number < otherNumber
        ? .orderedAscending : number > otherNumber ? .orderedDescending : .orderedSame
      if order == .orderedSame || order == result {
        result = result ?? order
      } else if result == nil || result == .orderedSame {
        result = order
      } else {
        return nil
      }
    }
    return result
  }
}
