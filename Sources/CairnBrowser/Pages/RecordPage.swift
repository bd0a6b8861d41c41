// One record: its values and its relationships.

@_spi(Generated) import Cairn
import CairnControl
import Foundation

struct RecordPage: Sendable {
  struct Field: Sendable {
    let name: String
    let type: String
    let value: PageValue
  }
  struct Members: Sendable {
    let name: String
    let anchor: String
    let destination: String
    let count: String
    let members: [PageValue]
    /// What is left out, in words.
    let remainder: String?
  }

  /// Members of a relationship that are shown.
  static let memberLimit = 200

  let title: String
  let entity: String
  let entityLink: String
  let key: String
  let uri: String
  let fields: [Field]
  let relationships: [Members]
  /// The address of the record's history.
  let changes: String

  init(_ browsed: BrowsedStore, entity name: String, key: String) async throws {
    self = try await browsed.read { context in
      RecordPage(try browsed.object(entity: name, key: key, in: context), browsed.addresses)
    }
  }

  private init(_ object: ManagedObject, _ addresses: PageAddress) {
    let values = RecordValues(object: object, addresses: addresses)
    let columns = PageColumn.all(of: object.entity)
    title = values.title
    entity = object.entity.name ?? ""
    entityLink = addresses.entity(entity)
    key = PageAddress.key(of: object.objectID)
    uri = object.objectID.uriRepresentation().absoluteString
    fields = columns.filter { !$0.isToMany }.map {
      Field(
        name: $0.name, type: $0.type, value: values.value(of: $0, limit: RecordValues.longText))
    }
    relationships = columns.filter(\.isToMany).map { column in
      let ids = object.objectIDs(forRelationshipNamed: column.name)
      let shown = ids.prefix(Self.memberLimit)
      return Members(
        name: column.name, anchor: column.anchor, destination: column.type, count: "\(ids.count)",
        members: shown.map(values.reference),
        remainder: ids.count > shown.count
          ? "The first \(shown.count) of \(ids.count) are shown." : nil)
    }
    changes = addresses.changes(object.objectID)
  }
}

/// The bytes of one attribute.
struct AttributeBytes: Sendable {
  let data: Data
  /// The format, where browsers can show it safely.
  let picture: PictureFormat?

  init(_ browsed: BrowsedStore, entity name: String, key: String, attribute: String) async throws {
    let data = try await browsed.read { context -> Data in
      let object = try browsed.object(entity: name, key: key, in: context)
      guard let column = PageColumn.all(of: object.entity).first(where: { $0.name == attribute }),
        case .attribute(let slot) = column.source,
        case .data(let data) = object.storedValue(at: slot)
      else { throw PageError.missing("\(name) \(key) has no bytes in “\(attribute)”.") }
      return data
    }
    self.data = data
    picture = PictureFormat(of: data)
  }
}
