/// Where the members of a list stand while members are taken out of it one by one, or added at its
/// end: each question costs the logarithm of the list's length.
struct MemberPositions {
  /// Where each member stood among all that have been in the list.
  private var places: [ObjectRef: Int] = [:]
  /// A Fenwick tree over those places: how many of them are empty now.
  private var gone: [Int] = [0]

  init(_ list: [ManagedObject]) {
    places.reserveCapacity(list.count)
    for (place, member) in list.enumerated() { places[ObjectRef(member)] = place }
    gone = Array(repeating: 0, count: list.count + 1)
  }

  func position(of member: ManagedObject) -> Int? {
    places[ObjectRef(member)].map { $0 - countGone(before: $0) }
  }

  mutating func remove(_ member: ManagedObject) {
    guard let place = places.removeValue(forKey: ObjectRef(member)) else { return }
    var node = place + 1
    while node < gone.count {
      gone[node] += 1
      node += node & -node
    }
  }

  /// The member comes at the end of the list.
  mutating func append(_ member: ManagedObject) {
    let place = gone.count - 1
    places[ObjectRef(member)] = place
    let node = place + 1
    // What the new node stands for: the places above the next lower node, without its own.
    gone.append(countGone(before: place) - countGone(before: node - (node & -node)))
  }

  private func countGone(before place: Int) -> Int {
    var (node, count) = (place, 0)
    while node > 0 {
      count += gone[node]
      node -= node & -node
    }
    return count
  }
}
