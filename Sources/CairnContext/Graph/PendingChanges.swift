import CairnModel

/// The objects a context has to save, and those that changed in the current event.
///
/// What an object is (inserted, updated, deleted) stands in its flags; this keeps changed objects
/// alive, in the order in which they first changed, and finds them without a hash.
struct PendingChanges {
  /// Changed objects; nil where one was taken out.
  private var list: [ManagedObject?] = []
  private(set) var count = 0
  /// The versions of objects that were deleted unread, by their place in ``list``; as long as the
  /// last of them needs.
  private var versions: [Int64] = []
  /// What there is among the changed objects, or was since there were none: a save leaves out what none of
  /// them needs, instead of asking each.
  private(set) var traits: PendingTraits = []
  /// Objects that the current event touched, each once.
  private(set) var event: [ManagedObject] = []
  /// Deleted objects whose delete rules have not been followed yet.
  var unpropagatedDeletes: [ManagedObject] = []

  var isEmpty: Bool { count == 0 }

  /// The changed objects in the order in which they first changed, as they are now.
  var objects: ChangedObjects { ChangedObjects(list: list) }

  func objects(_ kind: ObjectFlags) -> [ManagedObject] {
    var result: [ManagedObject] = []
    for case let object? in list where object.flags.contains(kind) { result.append(object) }
    return result
  }

  func contains(_ kind: ObjectFlags) -> Bool {
    for case let object? in list where object.flags.contains(kind) { return true }
    return false
  }

  /// Keeps an object as changed; `kind` is one of inserted, updated, deleted and replaces what it
  /// was before.
  mutating func mark(_ object: ManagedObject, as kind: ObjectFlags) {
    object.flags.subtract([.inserted, .updated, .deleted, .deletedUnread])
    object.flags.formUnion(kind)
    traits.formUnion(PendingTraits(kind))
    if object.pendingIndex < 0 {
      object.pendingIndex = Int32(list.count)
      list.append(object)
      count += 1
      traits.formUnion(PendingTraits(object))
    }
  }

  /// Keeps new objects of the context as deleted in this event: faults of which only the versions of
  /// their rows are known.
  mutating func markDeletedUnread(
    _ objects: [ManagedObject], versions: some Collection<Int64>
  ) {
    self.versions += repeatElement(0, count: list.count - self.versions.count)
    self.versions += versions
    list.reserveCapacity(list.count + objects.count)
    event.reserveCapacity(event.count + objects.count)
    count += objects.count
    traits.insert(.deleted)
    var layout: EntityLayout?
    for object in objects {
      // They come in runs of one entity.
      if object.unretainedLayout.with({ $0 !== layout }) {
        layout = object.layout
        traits.formUnion(PendingTraits(object))
      }
      object.pendingIndex = Int32(list.count)
      object.flags.formUnion([.deleted, .deletedUnread, .eventDeleted, .inEvent])
      list.append(object)
      event.append(object)
    }
  }

  /// The version at which the row of an object was that was deleted unread; nil for others.
  func version(of object: ManagedObject) -> Int64? {
    guard object.flags.isSuperset(of: [.deleted, .deletedUnread]) else { return nil }
    let index = Int(object.pendingIndex)
    return versions.indices.contains(index) ? versions[index] : nil
  }

  /// The row of an object that was deleted unread has become another one.
  mutating func setVersion(_ version: Int64, of object: ManagedObject) {
    if self.version(of: object) != nil { versions[Int(object.pendingIndex)] = version }
  }

  /// The object has nothing to be saved any more.
  mutating func remove(_ object: ManagedObject) {
    object.flags.subtract(.pending)
    guard object.pendingIndex >= 0 else { return }
    list[Int(object.pendingIndex)] = nil
    object.pendingIndex = -1
    count -= 1
    if count == 0 {
      list.removeAll(keepingCapacity: true)
      versions = []
      traits = []
    }
  }

  /// Nothing is to be saved any more; the caller has cleared what is pending in all objects.
  mutating func removeCleared() {
    list.removeAll(keepingCapacity: list.count < 1024)
    versions = []
    count = 0
    traits = []
  }

  /// Notes what happened to an object in this event.
  mutating func note(_ object: ManagedObject, _ kind: ObjectFlags) {
    object.flags.formUnion(kind)
    if !object.flags.contains(.inEvent) {
      object.flags.insert(.inEvent)
      event.append(object)
    }
  }

  /// Ends the event and returns its objects; their event flags are still set.
  mutating func takeEvent() -> [ManagedObject] {
    defer { event = [] }
    return event
  }

  /// Empties the list; the caller takes care of the objects' flags.
  mutating func removeAllKeepingFlags() {
    list = []
    versions = []
    count = 0
    traits = []
    unpropagatedDeletes = []
  }

  /// Forgets everything, without looking at the objects' data.
  mutating func removeAll() {
    for case let object? in list {
      object.flags.subtract([.inserted, .updated, .deleted, .deletedUnread])
      object.pendingIndex = -1
    }
    for object in event { object.flags.subtract(.event) }
    self = PendingChanges()
  }
}

/// The changed objects of a context at one moment, in their order.
///
/// Goes over them without making a list: a save does that many times, and each list would count a
/// reference of every object. What most passes look at, IDs and rows, is asked for ahead.
struct ChangedObjects: Sequence {
  fileprivate let list: [ManagedObject?]

  struct Iterator: IteratorProtocol {
    private let list: [ManagedObject?]
    private var place = 0

    fileprivate init(_ list: [ManagedObject?]) { self.list = list }

    mutating func next() -> ManagedObject? {
      while place < list.count {
        defer { place += 1 }
        MemoryAhead.fetch(list, from: place) { object in
          object.fetchIDAhead()
          object.fetchRowAhead()
          object.fetchDraftAhead()
        }
        if let object = list[place] { return object }
      }
      return nil
    }
  }

  func makeIterator() -> Iterator { Iterator(list) }
}

/// What some of the changed objects of a context are or have.
struct PendingTraits: OptionSet {
  let rawValue: UInt8

  static let inserted = Self(rawValue: 1 << 0)
  static let updated = Self(rawValue: 1 << 1)
  static let deleted = Self(rawValue: 1 << 2)
  /// A class that overrides what is called at a save.
  static let listeners = Self(rawValue: 1 << 3)
  /// A rule in the model or of the class that a value can break.
  static let rules = Self(rawValue: 1 << 4)
  /// A to-one relationship.
  static let toOnes = Self(rawValue: 1 << 5)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ kind: ObjectFlags) {
    self = []
    if kind.contains(.inserted) { insert(.inserted) }
    if kind.contains(.updated) { insert(.updated) }
    if kind.contains(.deleted) { insert(.deleted) }
  }

  init(_ object: ManagedObject) {
    self = []
    if object.flags.contains(.hasSaveHooks) { insert(.listeners) }
    if object.flags.contains(.hasRuleHooks) { insert(.rules) }
    object.unretainedLayout.with { layout in
      if layout.hasRules { insert(.rules) }
      if !layout.toOneSlots.isEmpty { insert(.toOnes) }
    }
  }
}
