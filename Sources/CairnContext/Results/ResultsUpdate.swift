import Foundation

/// The results after an event: objects that went are taken out, those that changed are put where
/// they belong now, all others keep their order.
///
/// Costs the length of the list plus a binary search for each changed object; objects that did not
/// change are compared with, never with each other.
struct ResultsUpdate {
  /// An object of the event that belongs to the results now.
  struct Member {
    let object: NSObject
    /// Its place before the event, -1 for a new one.
    let origin: Int
    /// The name of its section now.
    let name: String
  }

  let content: ResultsContent
  let origins: [Int]
  let touched: [Bool]

  /// - Parameters:
  ///   - removed: Places in the old list whose objects are gone.
  ///   - members: The changed objects that are in the results now.
  ///   - isSectioned: Whether names cut the list into sections.
  ///   - precedes: Whether one object has to stand before another one.
  init(
    of old: ResultsContent, removing removed: Set<Int>, placing members: [Member],
    isSectioned: Bool, precedes: (NSObject, NSObject) -> Bool
  ) {
    var leaving = removed
    for member in members where member.origin >= 0 { leaving.insert(member.origin) }
    let fixed = old.objects.indices.filter { !leaving.contains($0) }
    let placed = Self.placed(members, among: fixed, of: old, precedes: precedes)

    var order: [(origin: Int, member: Member?)] = []
    order.reserveCapacity(fixed.count + members.count)
    var next = 0
    for gap in 0...fixed.count {
      while next < placed.count, placed[next].gap == gap {
        order.append((placed[next].member.origin, placed[next].member))
        next += 1
      }
      if gap < fixed.count { order.append((fixed[gap], nil)) }
    }

    let objects = order.map { $0.member?.object ?? old.objects[$0.origin] }
    let oldSections = isSectioned ? old.sectionOfEach : []
    if isSectioned {
      content = ResultsContent(
        objects: objects,
        names: order.map { $0.member?.name ?? old.sections[oldSections[$0.origin]].name })
    } else {
      content = ResultsContent(objects: objects)
    }
    guard content.firstOutOfOrder != nil else {
      origins = order.map(\.origin)
      touched = order.map { $0.member != nil }
      return
    }
    // Sections were put together, so the order is another one.
    let entries = Dictionary(
      zip(objects, order).map { (ObjectIdentifier($0), $1) },
      uniquingKeysWith: { first, _ in first })
    let final = content.objects.compactMap { entries[ObjectIdentifier($0)] }
    origins = final.map(\.origin)
    touched = final.map { $0.member != nil }
  }

  /// Each changed object with the number of unchanged ones before it, in the new order.
  ///
  /// An object whose neighbours still fit stays between them; among equal ones a new object comes
  /// last.
  private static func placed(
    _ members: [Member], among fixed: [Int], of old: ResultsContent,
    precedes: (NSObject, NSObject) -> Bool
  ) -> [(gap: Int, member: Member)] {
    func fixedObject(_ index: Int) -> NSObject { old.objects[fixed[index]] }
    let placed = members.map { member -> (gap: Int, member: Member) in
      if member.origin >= 0 {
        let gap = lowerBound(fixed.count) { fixed[$0] < member.origin }
        let fitsBefore = gap == 0 || !precedes(member.object, fixedObject(gap - 1))
        if fitsBefore, gap == fixed.count || !precedes(fixedObject(gap), member.object) {
          return (gap, member)
        }
      }
      return (lowerBound(fixed.count) { !precedes(member.object, fixedObject($0)) }, member)
    }
    return placed.enumerated().sorted { first, second in
      let (a, b) = (first.element, second.element)
      if a.gap != b.gap { return a.gap < b.gap }
      if precedes(a.member.object, b.member.object) { return true }
      if precedes(b.member.object, a.member.object) { return false }
      let (left, right) = (rank(a.member), rank(b.member))
      return left != right ? left < right : first.offset < second.offset
    }.map(\.element)
  }

  /// Objects that were there come before new ones.
  private static func rank(_ member: Member) -> Int { member.origin >= 0 ? member.origin : .max }

  /// The first index for which the test, true up to some index, is false.
  private static func lowerBound(_ count: Int, _ isBelow: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBelow(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
