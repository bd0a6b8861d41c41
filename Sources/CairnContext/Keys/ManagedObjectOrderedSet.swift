import CairnModel
import Foundation

/// The members of an ordered relationship as an ordered set whose changes are changes of the
/// object.
///
/// What ``ManagedObject/mutableOrderedSetValue(forKey:)`` gives. It follows every change of the
/// relationship, also those made elsewhere; inverses follow what is added and removed. After the
/// object was turned into a fault ask the object for a new one. Belongs to the queue of the
/// object's context.
// Foundation's ordered set reads its own storage in methods that cannot be overridden (firstObject,
// lastObject, enumerators), so the storage is kept equal to the members: changes go to the object,
// and the holder of the members tells the set.
public final class ManagedObjectOrderedSet: NSMutableOrderedSet, MemberFollower {
  private let owner: ManagedObject
  private let relationshipIndex: Int
  /// Whether only this side of the relationship changes, without an announcement.
  let isPrimitive: Bool
  private var source: ToManyValue?
  /// Whether Foundation's storage is still to follow; see ``LateFollowing``.
  private var isBehind = false

  init(object: ManagedObject, index: Int, isPrimitive: Bool = false) {
    owner = object
    relationshipIndex = index
    self.isPrimitive = isPrimitive
    super.init(objects: [], count: 0)
    _ = holder
  }

  /// Foundation asks for it; such a set has no object to be about.
  public required convenience init(arrayLiteral elements: Any...) {
    // Only a program that gives this type to an array literal gets here.
    fatalError("A ManagedObjectOrderedSet is made by mutableOrderedSetValue(forKey:).")
  }

  /// The members cannot be taken out of their relationship; nil.
  public required convenience init?(coder: NSCoder) { nil }

  /// The holder of the members, which tells this set about changes.
  private var holder: ToManyValue {
    let current = owner.loadedToMany(relationshipIndex)
    if source !== current {
      source = current
      current.addFollower(self)
      followAll(current.order)
    }
    return current
  }

  /// The members now, in order.
  public var members: [ManagedObject] { holder.order }
  /// Whether there is no member.
  public var isEmpty: Bool { holder.members.isEmpty }

  // MARK: Following the holder

  func followInsertion(of member: ManagedObject, at position: Int) {
    if !postpones() { super.insert(member, at: position) }
  }

  func followRemoval(at position: Int) {
    if !postpones() { super.removeObject(at: position) }
  }

  private func postpones() -> Bool {
    if isBehind { return true }
    isBehind = owner.registry?.context?.lateFollowing.postpones(self) ?? false
    return isBehind
  }

  func catchUp() {
    if isBehind, let source { followAll(source.order) }
  }

  func followAll(_ members: [ManagedObject]) {
    isBehind = false
    super.removeAllObjects()
    super.addObjects(from: members)
  }

  // MARK: Reading

  // Foundation's methods that change the storage ask for its count.
  public override var count: Int {
    _ = holder
    return super.count
  }
  public override func object(at idx: Int) -> Any {
    _ = holder
    return super.object(at: idx)
  }
  public override func index(of object: Any) -> Int {
    guard let member = object as? ManagedObject else { return NSNotFound }
    return holder.position(of: member) ?? NSNotFound
  }
  public override func enumerateObjects(
    _ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    NSArray(array: members).enumerateObjects(block)
  }
  public override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }
  public override func mutableCopy(with zone: NSZone? = nil) -> Any {
    NSMutableOrderedSet(array: members)
  }

  // MARK: Changing

  /// Does nothing for an object that is a member already.
  public override func insert(_ object: Any, at idx: Int) {
    let member = required(object)
    precondition(idx >= 0 && idx <= count, "position \(idx) is out of range")
    if isPrimitive {
      _ = holder.add(member, at: idx)
    } else {
      owner.insertMember(member, toMany: relationshipIndex, at: idx)
    }
  }

  public override func add(_ object: Any) { insert(object, at: count) }

  public override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
    addObjects(from: Array(UnsafeBufferPointer(start: objects, count: count)))
  }

  public override func remove(_ val: Any) {
    guard let member = val as? ManagedObject else { return }
    if isPrimitive {
      _ = holder.remove(member)
    } else {
      owner.removeMember(member, toMany: relationshipIndex)
    }
  }

  public override func removeObject(at idx: Int) { remove(holder.member(at: idx)) }

  public override func replaceObject(at idx: Int, with obj: Any) {
    change { $0[idx] = required(obj) }
  }

  public override subscript(idx: Int) -> Any {
    get { object(at: idx) }
    set { replaceObject(at: idx, with: newValue) }
  }

  public override func addObjects(from array: [Any]) {
    let members = array.map(required)
    if isPrimitive {
      owner.changingMany { for member in members { _ = holder.add(member) } }
    } else {
      owner.addMembers(members, toMany: relationshipIndex)
    }
  }

  /// Inserts members so that they are at the positions afterwards; traps when the counts differ.
  public override func insert(_ objects: [Any], at indexes: IndexSet) {
    precondition(objects.count == indexes.count, "as many positions as members are needed")
    for (position, object) in zip(indexes, objects) { insert(object, at: position) }
  }

  public override func removeObjects(at indexes: IndexSet) {
    let list = members
    removeObjects(in: indexes.map { list[$0] })
  }

  public override func removeObjects(in range: NSRange) {
    removeObjects(at: IndexSet(integersIn: Range(range) ?? 0..<0))
  }

  public override func removeObjects(in array: [Any]) {
    let members = array.compactMap { $0 as? ManagedObject }
    if isPrimitive {
      owner.changingMany { for member in members { _ = holder.remove(member) } }
    } else {
      owner.removeMembers(members, toMany: relationshipIndex)
    }
  }
  public override func removeAllObjects() { setMembers([]) }

  /// Replaces the members at the positions, in order; traps when the counts differ.
  public override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    precondition(objects.count == indexes.count, "as many positions as members are needed")
    change { list in
      for (position, object) in zip(indexes, objects) { list[position] = required(object) }
    }
  }

  public override func setObject(_ obj: Any, at idx: Int) {
    if idx == members.count { insert(obj, at: idx) } else { replaceObject(at: idx, with: obj) }
  }

  public override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    change { $0.swapAt(idx1, idx2) }
  }

  /// Moves members to a position, counted without them, keeping their order among themselves.
  public override func moveObjects(at indexes: IndexSet, to idx: Int) {
    change { list in
      let moved = indexes.map { list[$0] }
      for position in indexes.reversed() { list.remove(at: position) }
      list.insert(contentsOf: moved, at: Swift.min(idx, list.count))
    }
  }

  public override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  public override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }
  public override func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }
  public override func minusSet(_ other: Set<AnyHashable>) {
    removeObjects(in: other.map(\.base))
  }
  public override func intersect(_ other: NSOrderedSet) {
    removeObjects(in: members.filter { !other.contains($0) })
  }
  public override func intersectSet(_ other: Set<AnyHashable>) {
    removeObjects(in: members.filter { !other.contains($0) })
  }

  public override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [],
    usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    guard let range = Range(range) else { return }
    change { list in
      list.replaceSubrange(
        range, with: list[range].sorted { cmptr($0, $1) == .orderedAscending })
    }
  }

  public override func sort(using sortDescriptors: [NSSortDescriptor]) {
    let sorted = (members as NSArray).sortedArray(using: sortDescriptors)
    setMembers(sorted.map(required))
  }

  /// Makes the members exactly these, in this order.
  public func setArray(_ members: [ManagedObject]) { setMembers(members) }

  private func change(_ body: (inout [ManagedObject]) -> Void) {
    var list = members
    body(&list)
    setMembers(list)
  }

  private func setMembers(_ members: [ManagedObject]) {
    if isPrimitive {
      owner.setPrimitiveMembers(members, toMany: relationshipIndex)
    } else {
      owner.changeMembers(members, toMany: relationshipIndex)
    }
  }

  private func required(_ object: Any) -> ManagedObject {
    guard let member = object as? ManagedObject else {
      RelationshipChecks.refuse(object, for: owner.layout.toManys[relationshipIndex])
    }
    return member
  }
}
