import CairnModel
import Foundation

/// The members of a to-many relationship as a set whose changes are changes of the object.
///
/// What ``ManagedObject/mutableSetValue(forKey:)`` gives. It shows the members as they are at each
/// moment; inverses follow what is added and removed. Belongs to the queue of the object's context.
///
/// Foundation on Linux casts subclasses of `NSSet` to empty Swift sets: write ``members``,
/// `allObjects` or `value(forKey:)` where a `Set` is wanted, not `as? Set<…>`.
public final class ManagedObjectSet: NSMutableSet {
  private let owner: ManagedObject
  private let index: Int

  init(object: ManagedObject, index: Int) {
    owner = object
    self.index = index
    super.init(objects: [], count: 0)
  }

  /// Foundation asks for it; such a set has no object to be about.
  public required init(capacity numItems: Int) {
    // Only a program that spells this initialiser out gets here.
    fatalError("A ManagedObjectSet is made by mutableSetValue(forKey:).")
  }

  /// The members cannot be taken out of their relationship; nil.
  public required convenience init?(coder: NSCoder) { nil }

  private var holder: ToManyValue { owner.loadedToMany(index) }

  // MARK: Reading

  /// The members now.
  public var members: Set<ManagedObject> { holder.members }
  public override var count: Int { holder.members.count }
  /// Whether there is no member.
  public var isEmpty: Bool { count == 0 }
  public override var allObjects: [Any] { holder.current }
  public override func member(_ object: Any) -> Any? {
    guard let object = object as? ManagedObject else { return nil }
    return holder.members.contains(object) ? object : nil
  }
  public override func objectEnumerator() -> NSEnumerator {
    (holder.current as NSArray).objectEnumerator()
  }
  public override func isEqual(_ value: Any?) -> Bool {
    if let other = value as? ManagedObjectSet { return members == other.members }
    guard let other = value as? NSSet, other.count == count else { return false }
    return holder.members.allSatisfy { other.contains($0) }
  }
  public override var hash: Int { count }
  public override var description: String { "\(NSSet(array: holder.current))" }
  public override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: holder.current) }
  public override func mutableCopy(with zone: NSZone? = nil) -> Any {
    NSMutableSet(array: holder.current)
  }

  // MARK: Changing

  public override func add(_ object: Any) {
    owner.insertMember(required(object), toMany: index)
  }

  public override func remove(_ object: Any) {
    guard let member = object as? ManagedObject else { return }
    owner.removeMember(member, toMany: index)
  }

  public override func addObjects(from array: [Any]) { array.forEach(add) }
  public override func removeAllObjects() { set([]) }
  public override func union(_ otherSet: Set<AnyHashable>) { otherSet.forEach { add($0.base) } }
  public override func minus(_ otherSet: Set<AnyHashable>) { otherSet.forEach { remove($0.base) } }
  public override func intersect(_ otherSet: Set<AnyHashable>) {
    for member in holder.current where !otherSet.contains(member) { remove(member) }
  }
  public override func setSet(_ otherSet: Set<AnyHashable>) {
    set(otherSet.map { required($0.base) })
  }

  private func set(_ members: [ManagedObject]) {
    owner.changeMembers(members, toMany: index)
  }

  private func required(_ object: Any) -> ManagedObject {
    guard let member = object as? ManagedObject else {
      RelationshipChecks.refuse(object, for: owner.layout.toManys[index])
    }
    return member
  }
}
