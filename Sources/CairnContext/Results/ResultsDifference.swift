import Foundation

/// What turns one list with sections into another, as small as it can be: sections that came and
/// went, objects that came, went, moved, or changed where they are.
///
/// Pure: it knows places, not objects. Places of deleted sections and objects, and those that moves
/// and updates start from, count in the old list; all others in the new one.
struct ResultsDifference {
  /// How one object came to its new place.
  struct Change: Equatable {
    let type: FetchedResultsChangeType
    /// The place in the old list; nil for inserts.
    let old: Int?
    /// The place in the new list; nil for deletes.
    let new: Int?
  }

  private(set) var deletedSections: [Int] = []
  private(set) var insertedSections: [Int] = []
  private(set) var deletes: [Change] = []
  private(set) var inserts: [Change] = []
  private(set) var moves: [Change] = []
  private(set) var updates: [Change] = []

  var isEmpty: Bool {
    deletedSections.isEmpty && insertedSections.isEmpty && deletes.isEmpty && inserts.isEmpty
      && moves.isEmpty && updates.isEmpty
  }

  /// Deletes, inserts, moves, updates, each in ascending order.
  var changes: [Change] { deletes + inserts + moves + updates }

  /// - Parameters:
  ///   - origins: For each place in the new list the place in the old one, -1 for new objects.
  ///   - touched: For each place in the new list whether the object changed. Objects that did not
  ///     have kept their order among each other.
  init(from old: ResultsContent, to new: ResultsContent, origins: [Int], touched: [Bool]) {
    let kept = keptSections(old, new)
    var isGone = [Bool](repeating: true, count: old.objects.count)
    for (index, section) in new.sections.enumerated() {
      let staying = Self.staying(
        section.range, origins: origins, touched: touched,
        from: kept[index].map { old.sections[$0].range })
      for place in section.range {
        let origin = origins[place]
        if origin < 0 {
          inserts.append(Change(type: .insert, old: nil, new: place))
          continue
        }
        isGone[origin] = false
        if !staying[place - section.range.lowerBound] {
          moves.append(Change(type: .move, old: origin, new: place))
        } else if touched[place] {
          updates.append(Change(type: .update, old: origin, new: place))
        }
      }
    }
    for (place, isGone) in isGone.enumerated() where isGone {
      deletes.append(Change(type: .delete, old: place, new: nil))
    }
  }

  /// For each new section the old one that it continues.
  ///
  /// Sections can only come and go, so of those that changed their order the fewest are deleted and
  /// inserted again.
  private mutating func keptSections(_ old: ResultsContent, _ new: ResultsContent) -> [Int?] {
    let places = Dictionary(
      old.sections.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    var kept = new.sections.map { places[$0.name] }
    let common = kept.enumerated().compactMap { index, old in old.map { (index, $0) } }
    let stays = Self.longestIncrease(common.map(\.1))
    for (position, (index, _)) in common.enumerated() where !stays[position] { kept[index] = nil }
    let survivors = Set(kept.compactMap(\.self))
    deletedSections = old.sections.indices.filter { !survivors.contains($0) }
    insertedSections = kept.indices.filter { kept[$0] == nil }
    return kept
  }

  /// Which objects of a new section need not move: all that did not change, and as many of the
  /// others as are in order with them and with each other.
  private static func staying(
    _ range: Range<Int>, origins: [Int], touched: [Bool], from source: Range<Int>?
  ) -> [Bool] {
    var stays = [Bool](repeating: false, count: range.count)
    guard let source else { return stays }
    /// Changed objects since the last fixed one that come after it in the old list too.
    var candidates: [Int] = []
    var last = -1
    func settle(before next: Int) {
      let fitting = candidates.filter { origins[$0] < next }
      if fitting.isEmpty { return }
      let increase = longestIncrease(fitting.map { origins[$0] })
      for (place, stay) in zip(fitting, increase) where stay {
        stays[place - range.lowerBound] = true
      }
    }
    for place in range {
      let origin = origins[place]
      guard origin >= 0, source.contains(origin) else { continue }
      if touched[place] {
        if origin > last { candidates.append(place) }
      } else {
        settle(before: origin)
        candidates.removeAll(keepingCapacity: true)
        last = origin
        stays[place - range.lowerBound] = true
      }
    }
    settle(before: .max)
    return stays
  }

  /// Marks the members of one longest increasing subsequence of distinct numbers.
  static func longestIncrease(_ numbers: [Int]) -> [Bool] {
    if zip(numbers, numbers.dropFirst()).allSatisfy(<) {
      return [Bool](repeating: true, count: numbers.count)
    }
    /// By length of the subsequence less one: where the one with the smallest end ends.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : -1
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var marks = [Bool](repeating: false, count: numbers.count)
    var index = ends.last ?? -1
    while index >= 0 {
      marks[index] = true
      index = previous[index]
    }
    return marks
  }
}
