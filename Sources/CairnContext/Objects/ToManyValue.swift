import CairnModel

/// What shows the members of an ordered relationship, and follows each change of them.
protocol MemberFollower: AnyObject {
  func followInsertion(of member: ManagedObject, at position: Int)
  func followRemoval(at position: Int)
  func followAll(_ members: [ManagedObject])
  /// Shows the members as they are now, after changes that it was allowed to follow later.
  func catchUp()
}

/// The members of one to-many relationship of one object.
///
/// Until it is loaded it holds only what was added and removed here, so that the other side of a
/// relationship can change without reading this side.
final class ToManyValue {
  let isOrdered: Bool
  /// Whether ``members`` is complete.
  private(set) var isLoaded = false
  /// The committed members, in their order; nil while not loaded.
  var committed: [ManagedObject] {
    if !forgotten.isEmpty {
      knownCommitted.removeAll { forgotten.contains(ObjectRef($0)) }
      forgotten = []
    }
    return knownCommitted
  }
  private var knownCommitted: [ManagedObject] = []
  /// Of the committed members those that do not exist any more; taken out all at once.
  private var forgotten: Set<ObjectRef> = []
  /// The members now; meaningful when loaded.
  ///
  /// A set is made of a few members when a caller asks for it; most that list members do not.
  private(set) var members: Set<ManagedObject> {
    get {
      makeSet()
      return knownMembers
    }
    _modify {
      makeSet()
      yield &knownMembers
    }
  }
  private var knownMembers: Set<ManagedObject> = []
  /// Whether the members are the committed ones, and ``knownMembers`` is not made.
  private var isPlain = false
  /// The members now in their order; kept for ordered relationships only.
  private var sequence = MemberSequence()
  private(set) var added = MemberList()
  private(set) var removed = MemberList()
  /// Whether the order was changed by hand since the last save.
  private(set) var isReordered = false
  /// The order to come back to after loading again.
  private var rememberedOrder: [ManagedObject]?
  /// Whether anything was set, even without effect.
  var isTouched = false
  /// The version of the owner's row that was known when the members were read; nil for none.
  ///
  /// A save compares the version of the row; that tells about an order only when the order is not
  /// older than the row.
  var version: Int64?
  /// Ordered sets that show the members.
  private(set) var followers: [Follower] = []

  struct Follower {
    weak var set: (any MemberFollower)?
  }

  func addFollower(_ set: any MemberFollower) {
    followers.removeAll { $0.set == nil }
    followers.append(Follower(set: set))
  }

  private func follow(_ step: (any MemberFollower) -> Void) {
    for follower in followers { if let set = follower.set { step(set) } }
  }

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  /// Whether there is something to be saved.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || isReordered || rememberedOrder != nil
  }

  /// The members of an ordered relationship now, in their order: a list made for each caller.
  var order: [ManagedObject] { sequence.members }

  /// The members now, in order when there is one, otherwise in no particular order.
  var current: [ManagedObject] {
    if isOrdered { return order }
    return isPlain ? knownCommitted : Array(knownMembers)
  }

  private func makeSet() {
    guard isPlain else { return }
    isPlain = false
    knownMembers = Set(knownCommitted)
  }

  // MARK: Loading

  /// Takes the committed members; what was added and removed before stays on top of them.
  func load(_ objects: [ManagedObject]) {
    setCommitted(objects)
    isLoaded = true
    isPlain =
      !isOrdered && added.isEmpty && removed.isEmpty && rememberedOrder == nil
      && Self.areFewAndDistinct(objects)
    if !isPlain { rebuild() }
  }

  /// Whether a list can stand for the set of its objects.
  private static func areFewAndDistinct(_ objects: [ManagedObject]) -> Bool {
    if objects.count > 16 { return false }
    for (index, object) in objects.enumerated() {
      for other in objects[..<index] where other === object { return false }
    }
    return true
  }

  private func setCommitted(_ objects: [ManagedObject]) {
    knownCommitted = objects
    forgotten = []
  }

  private func rebuild() {
    var now = committed.filter { !removed.contains(ObjectRef($0)) }
    isPlain = false
    knownMembers = Set(now)
    for reference in added where members.insert(reference.object).inserted {
      now.append(reference.object)
    }
    if let remembered = rememberedOrder {
      let kept = remembered.filter { members.contains($0) }
      let known = Set(kept)
      now = kept + now.filter { !known.contains($0) }
      rememberedOrder = nil
      isReordered = true
    }
    setOrder(isOrdered ? now : [])
  }

  /// Goes back to not loaded.
  ///
  /// Without `keepingChanges` what was added and removed is lost too.
  func unload(keepingChanges: Bool) {
    if keepingChanges, isLoaded, isReordered { rememberedOrder = order }
    isLoaded = false
    isPlain = false
    setCommitted([])
    knownMembers = []
    sequence = MemberSequence()
    isReordered = false
    if !keepingChanges { dropChanges() }
  }

  private func dropChanges() {
    added.removeAll()
    removed.removeAll()
    rememberedOrder = nil
    isReordered = false
    isTouched = false
  }

  /// Goes back to the committed members.
  func revert() {
    dropChanges()
    if isLoaded { rebuild() }
  }

  /// The members now become the committed ones.
  ///
  /// `isGone` tells which were deleted.
  func commit(isGone: (ManagedObject) -> Bool) {
    if isLoaded {
      if current.contains(where: isGone) {
        members = members.filter { !isGone($0) }
        setOrder(order.filter { !isGone($0) })
      }
      setCommitted(current)
    }
    dropChanges()
  }

  /// No row stands behind the object any more: all members are additions.
  func becomeUncommitted() {
    if !isLoaded { load([]) }
    makeSet()
    setCommitted([])
    added = MemberList(current)
    removed.removeAll()
    rememberedOrder = nil
    isReordered = false
  }

  /// Members that are not moved by hand stand where they are stored.
  func forgetOrder() {
    rememberedOrder = nil
    isReordered = false
  }

  /// The members of an ordered relationship are to be read again if they may be older than the row.
  func forgetOrder(olderThan row: Int64) {
    if isOrdered, isLoaded, version != row { unload(keepingChanges: true) }
  }

  /// Forgets a change of the order that led back to the committed one.
  func settle() {
    guard isLoaded, added.isEmpty, removed.isEmpty else { return }
    if isReordered, order.elementsEqual(committed, by: ===) { isReordered = false }
    if !isReordered { isTouched = false }
  }

  /// Takes members out without a change.
  func drop(where isGone: (ManagedObject) -> Bool) {
    for object in current where isGone(object) { forget(object) }
    for reference in added where isGone(reference.object) { added.remove(reference) }
    for reference in removed where isGone(reference.object) { removed.remove(reference) }
  }

  /// Takes a member that does not exist any more out of everything, without a change.
  func forget(_ object: ManagedObject) {
    let wasAdded = added.remove(ObjectRef(object))
    let wasRemoved = removed.remove(ObjectRef(object))
    guard isLoaded else { return }
    let position = position(of: object)
    let wasMember = members.remove(object) != nil
    if wasMember { removeFromOrder(at: position) }
    if wasRemoved || wasMember && !wasAdded { forgotten.insert(ObjectRef(object)) }
  }

  /// Takes a new member that is committed already, without a change.
  func admit(_ object: ManagedObject) {
    guard isLoaded, !removed.contains(ObjectRef(object)) else { return }
    if members.insert(object).inserted {
      if forgotten.remove(ObjectRef(object)) == nil { knownCommitted.append(object) }
      if isOrdered { insertIntoOrder(object, at: sequence.count) }
    } else if added.remove(ObjectRef(object)) {
      knownCommitted.append(object)
    }
  }

  /// Takes back what was done here with one member: it is one again if it was, and none if not.
  ///
  /// - Parameter isCommitted: Whether it is a member by what is stored.
  func restore(_ object: ManagedObject, isCommitted: Bool) {
    guard isCommitted else { return forget(object) }
    added.remove(ObjectRef(object))
    removed.remove(ObjectRef(object))
    guard isLoaded else { return }
    if !committed.contains(where: { $0 === object }) { knownCommitted.append(object) }
    if members.insert(object).inserted, isOrdered {
      insertIntoOrder(object, at: placeBeforeRemoval(of: object))
    }
  }

  /// Right after the committed member that stood before it and still is one.
  private func placeBeforeRemoval(of object: ManagedObject) -> Int {
    let committed = committed
    guard let place = committed.firstIndex(where: { $0 === object }) else { return sequence.count }
    let before = committed[..<place].last(where: members.contains)
    return before.flatMap { position(of: $0) }.map { $0 + 1 } ?? 0
  }

  // MARK: Changes

  /// Adds a member, at a position of an ordered relationship or at its end.
  ///
  /// - Returns: Whether it was not a member before, as far as that is known.
  func add(_ object: ManagedObject, at position: Int? = nil) -> Bool {
    isTouched = true
    if isLoaded {
      guard members.insert(object).inserted else { return false }
      if isOrdered {
        if let position, position < sequence.count {
          insertIntoOrder(object, at: position)
          isReordered = true
        } else {
          insertIntoOrder(object, at: sequence.count)
        }
      }
      if !removed.remove(ObjectRef(object)) {
        added.append(ObjectRef(object))
      } else if isOrdered {
        // It was a member before, but not necessarily in this place.
        isReordered = true
      }
      return true
    }
    if removed.remove(ObjectRef(object)) { return true }
    return added.append(ObjectRef(object))
  }

  /// Removes a member.
  ///
  /// - Returns: Whether it was a member before, as far as that is known.
  func remove(_ object: ManagedObject) -> Bool {
    isTouched = true
    if isLoaded {
      let position = position(of: object)
      guard members.remove(object) != nil else { return false }
      removeFromOrder(at: position)
      if !added.remove(ObjectRef(object)) { removed.append(ObjectRef(object)) }
      return true
    }
    if added.remove(ObjectRef(object)) { return true }
    return removed.append(ObjectRef(object))
  }

  // MARK: Order

  /// Where a member stands in an ordered relationship.
  func position(of object: ManagedObject) -> Int? {
    guard isOrdered, members.contains(object) else { return nil }
    return sequence.position(of: object)
  }

  /// The member at a position of an ordered relationship; traps when there is none.
  func member(at position: Int) -> ManagedObject { sequence[position] }

  /// Puts the members of a loaded ordered relationship into another order.
  func reorder(_ objects: [ManagedObject]) {
    guard isOrdered, isLoaded else { return }
    isTouched = true
    if order.elementsEqual(objects, by: ===) { return }
    isReordered = true
    setOrder(objects)
  }

  private func setOrder(_ objects: [ManagedObject]) {
    sequence = MemberSequence(objects)
    follow { $0.followAll(objects) }
  }

  private func insertIntoOrder(_ object: ManagedObject, at position: Int) {
    sequence.insert(object, at: position)
    if !followers.isEmpty { follow { $0.followInsertion(of: object, at: position) } }
  }

  /// The object is not in ``members`` any more.
  private func removeFromOrder(at known: Int?) {
    guard isOrdered, let position = known else { return }
    sequence.remove(at: position)
    if !followers.isEmpty { follow { $0.followRemoval(at: position) } }
  }
}
