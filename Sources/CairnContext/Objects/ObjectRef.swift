/// A managed object as a key: hashed and compared by identity, without a virtual call.
struct ObjectRef: Hashable {
  let object: ManagedObject

  init(_ object: ManagedObject) { self.object = object }

  static func == (a: Self, b: Self) -> Bool { a.object === b.object }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
