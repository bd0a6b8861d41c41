import CairnModel
import Foundation

/// The entities by which fetch requests name parts of history.
///
/// They have Apple's names, those in `Z_PRIMARYKEY`, and belong to no program's model: there are no
/// managed objects of them.
enum PersistentHistoryEntities {
  static let transaction = entity(
    "TRANSACTION",
    [
      ("author", .string), ("bundleID", .string), ("contextName", .string), ("processID", .string),
      ("storeID", .string), ("timestamp", .date), ("token", .undefined),
      ("transactionNumber", .integer64),
    ])
  static let change = entity(
    "CHANGE",
    [
      ("changeID", .integer64), ("changeType", .integer16), ("changedEntity", .undefined),
      ("changedID", .integer64), ("changedObjectID", .objectID), ("updatedProperties", .undefined),
    ])

  /// A new request for one of them.
  static func request(for entity: EntityDescription) -> FetchRequest<any FetchRequestResult> {
    let request = FetchRequest<any FetchRequestResult>()
    request.entity = entity
    return request
  }

  private static func entity(
    _ name: String, _ attributes: [(String, AttributeType)]
  ) -> EntityDescription {
    let entity = EntityDescription(name: name)
    entity.properties = attributes.map {
      AttributeDescription(name: $0, type: $1, isOptional: true)
    }
    return entity
  }
}
