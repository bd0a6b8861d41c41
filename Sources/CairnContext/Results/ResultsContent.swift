import Foundation

/// What a controller has found: a list, cut into sections.
///
/// A value: observers compare the one before an event with the one after it.
struct ResultsContent {
  struct Section {
    let name: String
    var range: Range<Int>
  }

  /// Objects, object IDs, dictionaries or numbers, in their order.
  private(set) var objects: [NSObject] = []
  private(set) var sections: [Section] = []
  /// Whether objects of one section did not stand together, so that they had to be moved.
  private(set) var firstOutOfOrder: (place: Int, name: String)?

  init() {}

  /// One section without a name, also for no objects.
  init(objects: [NSObject]) {
    self.objects = objects
    sections = [Section(name: "", range: 0..<objects.count)]
  }

  /// Sections by name, in the order in which the names first appear.
  ///
  /// Objects of a name that appears again later go to its first section, so that every name stands
  /// for one section whatever the sort descriptors do.
  init(objects: [NSObject], names: [String]) {
    var places: [String: Int] = [:]
    var counts: [Int] = []
    var sectionOf: [Int] = []
    sectionOf.reserveCapacity(objects.count)
    var order: [String] = []
    for (place, name) in names.enumerated() {
      if let last = order.last, last == name {
        sectionOf.append(order.count - 1)
        counts[order.count - 1] += 1
      } else if let known = places[name] {
        if firstOutOfOrder == nil { firstOutOfOrder = (place, name) }
        sectionOf.append(known)
        counts[known] += 1
      } else {
        places[name] = order.count
        sectionOf.append(order.count)
        order.append(name)
        counts.append(1)
      }
    }
    var start = 0
    for (name, count) in zip(order, counts) {
      sections.append(Section(name: name, range: start..<start + count))
      start += count
    }
    guard firstOutOfOrder != nil else {
      self.objects = objects
      return
    }
    var next = sections.map(\.range.lowerBound)
    var placed = objects
    for (place, section) in sectionOf.enumerated() {
      placed[next[section]] = objects[place]
      next[section] += 1
    }
    self.objects = placed
  }

  /// Sections of known sizes, from the cache.
  init(objects: [NSObject], sections counts: [(name: String, count: Int)]) {
    self.objects = objects
    var start = 0
    for (name, count) in counts {
      sections.append(Section(name: name, range: start..<start + count))
      start += count
    }
  }

  /// The section of each object, by place.
  var sectionOfEach: [Int] {
    var result: [Int] = []
    result.reserveCapacity(objects.count)
    for (index, section) in sections.enumerated() {
      for _ in section.range { result.append(index) }
    }
    return result
  }

  /// The index path of a place in the list.
  func indexPath(at place: Int) -> IndexPath {
    var (low, high) = (0, sections.count)
    while low < high {
      let middle = (low + high) / 2
      if sections[middle].range.upperBound <= place { low = middle + 1 } else { high = middle }
    }
    guard low < sections.count else { return IndexPath(row: place, section: 0) }
    return IndexPath(row: place - sections[low].range.lowerBound, section: low)
  }

  /// The place of an index path; nil outside of the results.
  func place(at path: IndexPath) -> Int? {
    guard path.count == 2, sections.indices.contains(path.section) else { return nil }
    let range = sections[path.section].range
    guard path.row >= 0, path.row < range.count else { return nil }
    return range.lowerBound + path.row
  }
}
