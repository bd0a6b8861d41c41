// Models in few words, for tests of what a store's file holds.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSQLite

enum FormatModel {
  static func attribute(
    _ name: String, _ type: AttributeType, kept: Bool = false, external: Bool = false
  ) -> AttributeDescription {
    let result = AttributeDescription(name: name, type: type)
    result.preservesValueInHistoryOnDeletion = kept
    result.allowsExternalBinaryDataStorage = external
    return result
  }

  static func derived(
    _ name: String, _ type: AttributeType, _ expression: String
  ) -> DerivedAttributeDescription {
    DerivedAttributeDescription(name, type, from: expression)
  }

  /// Connects two relationships and gives them to their entities.
  static func link(
    _ a: EntityDescription, _ first: RelationshipDescription, _ b: EntityDescription,
    _ second: RelationshipDescription
  ) {
    SampleModel.connect(first, second)
    a.properties.append(first)
    b.properties.append(second)
  }

  static func make(_ entities: EntityDescription...) throws -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = entities
    try model.prepareForUse()
    return model
  }
}

extension StoreFixture {
  /// Saves an update of one row.
  @discardableResult
  func change(_ row: RowSnapshot, _ values: [String: AttributeValue]) throws -> RowSnapshot {
    var request = SaveChangesRequest()
    request.updates = [update(row, values)]
    return try receipt(store.save(request)).snapshots[0]
  }

  func delete(_ rows: RowSnapshot...) throws {
    var request = SaveChangesRequest()
    request.deletions = rows.map { .init(snapshot: $0) }
    _ = try receipt(store.save(request))
  }

  /// Saves the members that come to a to-many relationship, and their order.
  func link(
    _ relationship: RelationshipDescription, of owner: RowSnapshot, adding: [RowSnapshot],
    order: [RowSnapshot]? = nil
  ) throws {
    var request = SaveChangesRequest()
    request.links = [
      .init(
        relationship: relationship, owner: owner.objectID, added: adding.map(\.objectID),
        order: order?.map(\.objectID))
    ]
    _ = try receipt(store.save(request))
  }

  /// Runs SQL as another program would.
  func execute(_ statements: String...) throws {
    try StoreFileAccess.write(url, options: StoreOptions(), doing: "be written") { connection in
      for sql in statements { try connection.execute(sql) }
    }
  }

  /// The statement that made something.
  func sql(of name: String) throws -> String? {
    try column("SELECT sql FROM sqlite_master WHERE name = '\(name)'").first
  }
}
