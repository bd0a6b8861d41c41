import Foundation

/// One key to sort by. Source: `NSSortDescriptor`.
///
/// Nil sorts before everything else. Immutable, may be used on any thread.
// Unchecked: immutable after initialisation; as in Core Data, the program that gives a comparator
// promises that it may be called on the queue that sorts.
open class ObjectSortDescriptor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The key path of the values to compare; nil compares the objects themselves.
  public let key: String?
  public let ascending: Bool
  /// How values are compared, nil for a comparator.
  public let selector: SelectorName?
  /// The Swift key path that ``key`` names, when the descriptor was made from one.
  public let keyPath: AnyKeyPath?
  private let customComparator: Comparator?

  /// Sorts by `compare:`.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key: key, ascending: ascending, selector: nil)
  }

  /// - Parameter selector: one of the names of ``SelectorName``; nil means `compare:`.
  public convenience init(key: String?, ascending: Bool, selector: SelectorName?) {
    self.init(key: key, ascending: ascending, selector: selector, keyPath: nil)
  }

  /// Sorts by a closure; only in memory.
  public convenience init(
    key: String?, ascending: Bool, comparator cmptr: @escaping Comparator
  ) {
    self.init(key: key, ascending: ascending, keyPath: nil, comparator: cmptr)
  }

  package init(key: String?, ascending: Bool, selector: SelectorName?, keyPath: AnyKeyPath?) {
    self.key = key
    self.ascending = ascending
    self.selector = selector ?? .compare
    self.keyPath = keyPath
    customComparator = nil
    super.init()
  }

  package init(
    key: String?, ascending: Bool, keyPath: AnyKeyPath?, comparator: @escaping Comparator
  ) {
    self.key = key
    self.ascending = ascending
    selector = nil
    self.keyPath = keyPath
    customComparator = comparator
    super.init()
  }

  // MARK: Archiving and copying

  private static let keyKey = "NSKey"
  private static let ascendingKey = "NSAscending"
  private static let selectorKey = "NSSelector"

  /// A sort descriptor from a keyed archive; nil when the archive holds none.
  public required init?(coder: NSCoder) {
    guard
      let name = coder.decodeObject(of: NSString.self, forKey: Self.selectorKey) as String?
    else { return nil }
    key =
      coder.containsValue(forKey: Self.keyKey)
      ? coder.decodeObject(of: NSString.self, forKey: Self.keyKey) as String? : nil
    ascending = coder.decodeBool(forKey: Self.ascendingKey)
    selector = SelectorName(name)
    keyPath = nil
    customComparator = nil
    super.init()
  }

  open class var supportsSecureCoding: Bool { true }

  /// Writes the descriptor to a keyed archive.
  ///
  /// A comparator cannot be archived; the coder then fails.
  open func encode(with coder: NSCoder) {
    guard let selector else {
      coder.failWithError(PredicateArchive.unsupported("a comparator"))
      return
    }
    if let key { coder.encode(key as NSString, forKey: Self.keyKey) }
    coder.encode(ascending, forKey: Self.ascendingKey)
    coder.encode(selector.rawValue as NSString, forKey: Self.selectorKey)
  }

  /// The descriptor itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// For sort descriptors that were decoded; nothing to do.
  open func allowEvaluation() {}

  /// Whether the descriptor compares with a closure, which no store can do.
  package var hasCustomComparator: Bool { customComparator != nil }

  /// How two values (not objects) compare in ascending order.
  open var comparator: Comparator {
    if let customComparator { return customComparator }
    let selector = selector ?? .compare
    return { ValueSorting.compare(PredicateValue($0), PredicateValue($1), by: selector) }
  }

  /// How two objects compare by this descriptor, its direction included.
  ///
  /// Traps for a selector that Cairn does not know and for a key path that cannot be read.
  open func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      return try order(object1, object2)
    } catch {
      // For the program's own descriptors; code that sorts by names from outside calls order(_:_:).
      fatalError("\(error)")
    }
  }

  /// As ``compare(_:to:)``, with errors.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  package final func order(_ object1: Any, _ object2: Any) throws -> ComparisonResult {
    try order(values: sortValue(of: object1), sortValue(of: object2))
  }

  /// How two values of the key compare, the direction included.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a selector that Cairn does not know.
  package final func order(
    values first: PredicateValue, _ second: PredicateValue
  ) throws -> ComparisonResult {
    let result: ComparisonResult
    if let customComparator {
      switch (first.anyValue, second.anyValue) {
      case (nil, nil): result = .orderedSame
      case (nil, _?): result = .orderedAscending
      case (_?, nil): result = .orderedDescending
      case (let a?, let b?): result = customComparator(a, b)
      }
    } else {
      let selector = selector ?? .compare
      guard ValueSorting.supports(selector) else {
        throw PredicateEvaluationError(
          .unsupportedSelector, "unsupported NSSortDescriptor selector: \(selector.rawValue)")
      }
      result = ValueSorting.compare(first, second, by: selector)
    }
    return ascending ? result : result.reversed
  }

  /// The value an object is sorted by.
  package final func sortValue(of object: Any) throws -> PredicateValue {
    guard let key else { return PredicateValue(object) }
    return try KeyPathReading.value(of: PredicateValue(object), keyPath: key)
  }

  /// The same order backwards; an ``ObjectSortDescriptor``.
  open var reversedSortDescriptor: Any {
    if let customComparator {
      return ObjectSortDescriptor(
        key: key, ascending: !ascending, keyPath: keyPath, comparator: customComparator)
    }
    return ObjectSortDescriptor(
      key: key, ascending: !ascending, selector: selector, keyPath: keyPath)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ObjectSortDescriptor else { return false }
    if self === other { return true }
    return key == other.key && ascending == other.ascending && selector == other.selector
      && customComparator == nil && other.customComparator == nil
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(ascending)
    hasher.combine(selector)
    return hasher.finalize()
  }

  open override var description: String {
    "(\(key ?? "self"), \(ascending ? "ascending" : "descending"), "
      + "\(selector?.rawValue ?? "comparator"))"
  }
}

extension ComparisonResult {
  /// The result of comparing the other way round.
  package var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: return .orderedDescending
    case .orderedDescending: return .orderedAscending
    case .orderedSame: return .orderedSame
    }
  }
}

extension Array where Element == ObjectSortDescriptor {
  /// Whether one object comes before another by these descriptors, the first deciding first.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  package func areInIncreasingOrder(_ object1: Any, _ object2: Any) throws -> Bool {
    for descriptor in self {
      switch try descriptor.order(object1, object2) {
      case .orderedAscending: return true
      case .orderedDescending: return false
      case .orderedSame: continue
      }
    }
    return false
  }
}
