import CairnModel

/// An object ID as a key: hashed by its row key, without a virtual call.
struct ObjectIDRef: Hashable {
  let id: ManagedObjectID

  init(_ id: ManagedObjectID) { self.id = id }

  static func == (a: Self, b: Self) -> Bool { a.id === b.id || a.id.isEqual(b.id) }
  func hash(into hasher: inout Hasher) { hasher.combine(id.key) }
}

/// A managed object as a key: hashed and compared by identity, without a virtual call.
struct ObjectRef: Hashable {
  let object: ManagedObject

  init(_ object: ManagedObject) { self.object = object }

  static func == (a: Self, b: Self) -> Bool { a.object === b.object }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
