import CairnModel

/// An object ID as a key: hashed by its row key, without a virtual call.
struct ObjectIDRef: Hashable {
  let id: ManagedObjectID

  init(_ id: ManagedObjectID) { self.id = id }

  static func == (a: Self, b: Self) -> Bool { a.id === b.id || a.id.isEqual(b.id) }
  func hash(into hasher: inout Hasher) { hasher.combine(id.key) }
}
