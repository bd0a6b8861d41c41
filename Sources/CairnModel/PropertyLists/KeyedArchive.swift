import Foundation

/// What a field of an archived object holds.
package enum ArchivedValue {
  case none
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case date(Date)
  case data(Data)
  case string(String)
  case object(ArchivedObject)
}

/// A keyed archive (`NSKeyedArchiver`): a property list whose `$objects` refer to each other by UID.
///
/// Nothing is instantiated; the reader of an archive asks objects for their fields.
package final class KeyedArchive {
  let list: BinaryPropertyList
  /// The number in the list of each archived object, by UID.
  let slots: [Int]
  /// Where in the list the object stands that was archived.
  let rootIndex: Int?

  /// - Throws: ``BinaryPropertyList/Malformed``.
  package init(_ data: Data) throws {
    let list = try BinaryPropertyList(data)
    let top = Self.fields(of: list.objects[list.top], in: list)
    guard case .string("NSKeyedArchiver")? = top["$archiver"].map({ list.objects[$0] }),
      case .array(let objects)? = top["$objects"].map({ list.objects[$0] }),
      let rootFields = top["$top"].map({ Self.fields(of: list.objects[$0], in: list) })
    else { throw BinaryPropertyList.Malformed(description: "The data is no keyed archive.") }
    self.list = list
    slots = objects
    rootIndex = rootFields["root"]
  }

  /// The object that was archived; not kept, since it holds the archive.
  package var root: ArchivedObject? {
    if let rootIndex, case .object(let object) = value(at: rootIndex) { return object }
    return nil
  }

  static func fields(
    of object: BinaryPropertyList.Object, in list: BinaryPropertyList
  ) -> [String: Int] {
    guard case .dictionary(let pairs) = object else { return [:] }
    var result: [String: Int] = [:]
    for (key, value) in pairs {
      if case .string(let name) = list.objects[key] { result[name] = value }
    }
    return result
  }

  /// The value at a place of the list; UIDs are followed.
  fileprivate func value(at index: Int, following uid: Int? = nil) -> ArchivedValue {
    switch list.objects[index] {
    case .null: return .none
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .data(let data): return .data(data)
    case .string(let text): return uid == 0 && text == "$null" ? .none : .string(text)
    case .uid(let number):
      // A UID that leads to a UID occurs in no archive and could go round in circles.
      guard uid == nil, slots.indices.contains(number) else { return .none }
      return value(at: slots[number], following: number)
    case .array: return .none
    case .dictionary:
      guard let uid else { return .none }
      let fields = Self.fields(of: list.objects[index], in: list)
      let object = ArchivedObject(archive: self, uid: uid, fields: fields)
      // Mutable strings are objects of their own.
      if let text = mutableText(fields) { return .string(text) }
      return .object(object)
    }
  }

  /// The text of a mutable string; not looked up as other fields are, lest a string that holds
  /// itself never end.
  private func mutableText(_ fields: [String: Int]) -> String? {
    guard let index = fields["NS.string"] else { return nil }
    switch list.objects[index] {
    case .string(let text): return text
    case .uid(let number):
      if slots.indices.contains(number), case .string(let text) = list.objects[slots[number]] {
        return text
      }
      return nil
    case .null, .bool, .integer, .real, .date, .data, .array, .dictionary: return nil
    }
  }

  fileprivate func array(at index: Int) -> [ArchivedValue]? {
    guard case .array(let members) = list.objects[index] else { return nil }
    return members.map { value(at: $0) }
  }
}

/// One object of a keyed archive: a class name and fields.
package struct ArchivedObject {
  fileprivate let archive: KeyedArchive
  /// The object's identity within the archive.
  let uid: Int
  fileprivate let fields: [String: Int]

  /// The name of the object's class.
  package var className: String {
    if case .object(let type) = self["$class"] { return type.text("$classname") ?? "" }
    return ""
  }

  package subscript(_ key: String) -> ArchivedValue {
    fields[key].map { archive.value(at: $0) } ?? .none
  }

  package func text(_ key: String) -> String? {
    if case .string(let text) = self[key] { return text }
    return nil
  }

  package func flag(_ key: String) -> Bool {
    switch self[key] {
    case .bool(let flag): return flag
    case .integer(let number): return number != 0
    case .none, .real, .date, .data, .string, .object: return false
    }
  }

  package func integer(_ key: String) -> Int? {
    switch self[key] {
    case .integer(let number): return Int(number)
    case .real(let number): return Int(exactly: number)
    case .bool(let flag): return flag ? 1 : 0
    case .none, .date, .data, .string, .object: return nil
    }
  }

  package func object(_ key: String) -> ArchivedObject? {
    if case .object(let object) = self[key] { return object }
    return nil
  }

  /// A field that is an array of the property list itself, as in `NS.objects`.
  func rawList(_ key: String) -> [ArchivedValue] {
    fields[key].flatMap { archive.array(at: $0) } ?? []
  }

  /// The members of an archived array or set in a field.
  package func members(_ key: String) -> [ArchivedValue] { object(key)?.members ?? [] }

  /// The members of this array or set; old archives number them instead of listing them.
  var members: [ArchivedValue] {
    if fields["NS.objects"] != nil { return rawList("NS.objects") }
    var result: [ArchivedValue] = []
    while fields["NS.object.\(result.count)"] != nil {
      result.append(self["NS.object.\(result.count)"])
    }
    return result
  }

  /// The pairs of this dictionary.
  var pairs: [(key: ArchivedValue, value: ArchivedValue)] {
    if let mapping = object("searchMapping") {
      return zip(mapping.members("keys"), members("values")).map { ($0, $1) }
    }
    if fields["NS.keys"] != nil {
      return zip(rawList("NS.keys"), rawList("NS.objects")).map { ($0, $1) }
    }
    var result: [(key: ArchivedValue, value: ArchivedValue)] = []
    while fields["NS.key.\(result.count)"] != nil {
      result.append((self["NS.key.\(result.count)"], self["NS.object.\(result.count)"]))
    }
    return result
  }

  /// The pairs of an archived dictionary in a field, those with text keys.
  package func dictionary(_ key: String) -> [(String, ArchivedValue)] {
    (object(key)?.pairs ?? []).compactMap { pair in
      if case .string(let name) = pair.key { return (name, pair.value) }
      return nil
    }
  }
}
