import Foundation

/// Looks at a keyed archive before Foundation's unarchiver does.
///
/// On Linux that traps, whatever its failure policy, for a class that exists and is not allowed, and
/// never ends with archives that hold themselves. What passes here has neither.
struct ArchiveGate {
  /// What the gate knows of an archive that passed.
  struct Admitted {
    /// The objects, those that an object holds before it.
    var objects: [Int] = []
    fileprivate var holdsDictionary = false
    /// Whether there is an object whose decoding can fail: of a class that the gate does not know by itself.
    fileprivate var holdsOther = false

    var mayFailInDictionary: Bool { holdsDictionary && holdsOther }
  }

  private var admitted = Admitted()
  private let archive: KeyedArchive
  private let allowed: [AnyClass]
  /// By UID: false while an object is looked at, true afterwards.
  private var seen: [Int: Bool] = [:]
  /// By UID of the class, nil for one that must not be made.
  private var classes: [Int: AnyClass?] = [:]

  /// Foundation decodes member by member, each on the stack of the one before.
  private static let maximumDepth = 200

  /// What is known of the archive; nil unless it holds only objects of the allowed classes and their
  /// subclasses.
  static func admitted(_ data: Data, allowing allowed: [AnyClass]) -> Admitted? {
    guard let archive = try? KeyedArchive(data), let rootIndex = archive.rootIndex,
      case .uid(let root) = archive.list.objects[rootIndex]
    else { return nil }
    var gate = ArchiveGate(archive: archive, allowed: allowed)
    return gate.admits(root, depth: 0) ? gate.admitted : nil
  }

  private init(archive: KeyedArchive, allowed: [AnyClass]) {
    self.archive = archive
    self.allowed = allowed
  }

  private mutating func admits(_ uid: Int, depth: Int) -> Bool {
    // Whatever is looked at still holds itself.
    if let isDone = seen[uid] { return isDone }
    guard depth < Self.maximumDepth, archive.slots.indices.contains(uid) else { return false }
    seen[uid] = false
    let object = archive.list.objects[archive.slots[uid]]
    if case .dictionary = object {
      let fields = KeyedArchive.fields(of: object, in: archive.list)
      guard let type = type(of: fields), hasItsFields(type, fields) else { return false }
      for (name, index) in fields where name != "$class" {
        guard admits(valueAt: index, depth: depth + 1) else { return false }
      }
      note(uid, type)
    } else if !admits(valueAt: archive.slots[uid], depth: depth + 1) {
      return false
    }
    seen[uid] = true
    return true
  }

  private mutating func admits(valueAt index: Int, depth: Int) -> Bool {
    guard depth < Self.maximumDepth else { return false }
    switch archive.list.objects[index] {
    case .null, .bool, .integer, .real, .date, .data, .string: return true
    case .uid(let uid): return admits(uid, depth: depth)
    case .array(let members):
      // Archives have no lists in lists: a few that hold each other twice would stand for any number.
      for member in members {
        if case .array = archive.list.objects[member] { return false }
        guard admits(valueAt: member, depth: depth + 1) else { return false }
      }
      return true
    // Objects are dictionaries too, but stand among the archive's objects.
    case .dictionary: return false
    }
  }

  // MARK: Classes

  /// The class of an object; nil for one that is unknown or not allowed.
  private mutating func type(of fields: [String: Int]) -> AnyClass? {
    guard let index = fields["$class"], case .uid(let uid) = archive.list.objects[index],
      archive.slots.indices.contains(uid)
    else { return nil }
    if let known = classes[uid] { return known }
    let description = KeyedArchive.fields(
      of: archive.list.objects[archive.slots[uid]], in: archive.list)
    var found: AnyClass?
    if let nameIndex = description["$classname"],
      case .string(let name) = archive.list.objects[nameIndex],
      // Archives name Foundation's classes without a module, and reading exchanges some by those names.
      !name.hasPrefix("Foundation."), let type = NamedClass.type(named: name), isAllowed(type),
      areTexts(description["$classes"])
    {
      found = type
    }
    classes[uid] = .some(found)
    return found
  }

  /// Whether there is a list of texts: the names of a class and its ancestors, which Foundation takes for
  /// granted.
  private func areTexts(_ index: Int?) -> Bool {
    guard let index, case .array(let members) = archive.list.objects[index] else { return false }
    return members.allSatisfy {
      if case .string = archive.list.objects[$0] { return true }
      return false
    }
  }

  private func isAllowed(_ type: AnyClass) -> Bool {
    // Foundation traps when some of its classes are asked what they support, so that the list comes first.
    allowed.contains { Self.inherits(type, from: $0) } && !Self.isUnknownOfFoundation(type)
      && (type as? any NSSecureCoding.Type)?.supportsSecureCoding == true
  }

  /// Whether the class is Foundation's and its fields are not looked at, so that its initialiser may trap.
  ///
  /// A list of allowed classes that says `NSObject` would let them all in.
  static func isUnknownOfFoundation(_ type: AnyClass) -> Bool {
    !(known + decoding).contains { inherits(type, from: $0) }
      && foundation.contains(String(reflecting: type).prefix { $0 != "." })
  }

  private static let foundation: Set<Substring> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
  ]

  private static func inherits(_ type: AnyClass, from ancestor: AnyClass) -> Bool {
    var next: AnyClass? = type
    while let current = next {
      if current == ancestor { return true }
      next = _getSuperclass(current)
    }
    return false
  }

  private mutating func note(_ uid: Int, _ type: AnyClass) {
    admitted.objects.append(uid)
    if Self.inherits(type, from: NSDictionary.self) { admitted.holdsDictionary = true }
    if !Self.known.contains(where: { $0 == type }) { admitted.holdsOther = true }
  }

  /// The classes that decode whatever they hold, once ``hasItsFields(_:_:)`` says so.
  private static let known: [AnyClass] = [
    NSString.self, NSMutableString.self, NSArray.self, NSMutableArray.self, NSSet.self,
    NSMutableSet.self, NSDictionary.self, NSMutableDictionary.self, NSData.self,
    NSMutableData.self, NSDate.self, NSUUID.self, NSNull.self,
  ]

  /// Foundation's other classes that do not trap, once ``hasItsFields(_:_:)`` says so; their decoding can fail.
  private static let decoding: [AnyClass] = [
    NSNumber.self, NSURL.self, NSOrderedSet.self,
  ]

  // MARK: Fields

  /// Whether an object of a class of Foundation has what its initialiser takes for granted.
  private func hasItsFields(_ type: AnyClass, _ fields: [String: Int]) -> Bool {
    func field(_ name: String) -> BinaryPropertyList.Object? {
      fields[name].map { archive.list.objects[$0] }
    }
    if Self.inherits(type, from: NSString.self) {
      if case .string? = field("NS.string") { return true }
      return false
    }
    /// How many objects a field refers to; nil where it is no list of references.
    func members(_ name: String) -> Int? {
      guard case .array(let members)? = field(name),
        members.allSatisfy({
          if case .uid = archive.list.objects[$0] { return true }
          return false
        })
      else { return nil }
      return members.count
    }
    if Self.inherits(type, from: NSDictionary.self) {
      return members("NS.objects") != nil && members("NS.objects") == members("NS.keys")
        && !holdsNull(field("NS.objects")) && !holdsNull(field("NS.keys"))
    }
    if Self.inherits(type, from: NSArray.self) || Self.inherits(type, from: NSSet.self) {
      return members("NS.objects") != nil
    }
    if Self.inherits(type, from: NSOrderedSet.self) {
      return fields.allSatisfy { name, index in
        if case .uid = archive.list.objects[index] { return true }
        return !name.hasPrefix("NS.object.")
      }
    }
    if Self.inherits(type, from: NSUUID.self) {
      if case .data(let bytes)? = field("NS.uuidbytes") { return bytes.count == 16 }
      return false
    }
    if Self.inherits(type, from: NSDate.self) {
      switch field("NS.time") {
      case .real(let seconds)?: return !seconds.isNaN
      case .integer?: return true
      default: return false
      }
    }
    if Self.inherits(type, from: NSData.self) {
      if case .data? = field("NS.data") { return true }
      return false
    }
    if Self.inherits(type, from: NSURL.self) {
      return isAddress(field("NS.relative"))
        && (field("NS.base") == nil || isBase(field("NS.base")))
    }
    return true
  }

  /// Whether a text is the address of something; Foundation traps where a program looks at another.
  private func isAddress(_ field: BinaryPropertyList.Object?) -> Bool {
    guard case .string(let text)? = object(referredToBy: field) else { return false }
    return URL(string: text) != nil
  }

  /// Whether a list refers to the archive's sign for nothing, which Foundation leaves out: a dictionary would
  /// then have more keys than objects.
  private func holdsNull(_ list: BinaryPropertyList.Object?) -> Bool {
    guard case .array(let members)? = list else { return false }
    return members.contains {
      if case .string("$null")? = object(referredToBy: archive.list.objects[$0]) { return true }
      return false
    }
  }

  private func object(referredToBy field: BinaryPropertyList.Object?) -> BinaryPropertyList.Object?
  {
    guard case .uid(let uid)? = field, archive.slots.indices.contains(uid) else { return nil }
    return archive.list.objects[archive.slots[uid]]
  }

  /// Whether a field refers to nothing, or to an object of the class of addresses.
  private func isBase(_ field: BinaryPropertyList.Object?) -> Bool {
    switch object(referredToBy: field) {
    case .string("$null"): return true
    case .dictionary?:
      let fields = object(referredToBy: field).map { KeyedArchive.fields(of: $0, in: archive.list) }
      let type = object(referredToBy: fields?["$class"].map { archive.list.objects[$0] })
      let names = type.map { KeyedArchive.fields(of: $0, in: archive.list) }
      guard case .string(let name)? = names?["$classname"].map({ archive.list.objects[$0] }) else {
        return false
      }
      return NamedClass.type(named: name).map { Self.inherits($0, from: NSURL.self) } ?? false
    case .null, .bool, .integer, .real, .date, .data, .string, .uid, .array, nil: return false
    }
  }
}
