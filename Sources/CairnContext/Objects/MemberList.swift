/// Members in the order in which they came, each once.
///
/// Adding and taking out cost the same whatever there is, which an `OrderedSet` cannot say of
/// taking out.
struct MemberList: Sequence {
  private var places: [ObjectRef: Int] = [:]
  /// Nil where one was taken out.
  private var list: [ObjectRef?] = []

  init() {}

  init(_ members: some Sequence<ManagedObject>) {
    for member in members { append(ObjectRef(member)) }
  }

  var isEmpty: Bool { places.isEmpty }
  var count: Int { places.count }

  func contains(_ member: ObjectRef) -> Bool { places[member] != nil }

  /// - Returns: Whether it was not there.
  @discardableResult
  mutating func append(_ member: ObjectRef) -> Bool {
    if places[member] != nil { return false }
    places[member] = list.count
    list.append(member)
    return true
  }

  /// - Returns: Whether it was there.
  @discardableResult
  mutating func remove(_ member: ObjectRef) -> Bool {
    guard let place = places.removeValue(forKey: member) else { return false }
    list[place] = nil
    if list.count > 32, places.count < list.count / 2 { close() }
    return true
  }

  mutating func removeAll() { self = MemberList() }

  private mutating func close() {
    list = list.filter { $0 != nil }
    for (place, member) in list.enumerated() { if let member { places[member] = place } }
  }

  func makeIterator() -> some IteratorProtocol<ObjectRef> {
    list.lazy.compactMap { $0 }.makeIterator()
  }
}
