import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// One changed object in a transaction. Source: `NSPersistentHistoryChange`.
// Unchecked: immutable; property descriptions are frozen, tombstone values are property-list
// values.
public final class PersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
  /// The entity that a fetch request names to find changes; see
  /// ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
  public class func entityDescription(with context: ManagedObjectContext) -> EntityDescription? {
    PersistentHistoryEntities.change
  }
  /// The same without a context.
  public class var entityDescription: EntityDescription? { PersistentHistoryEntities.change }
  /// A new fetch request for changes.
  public class var fetchRequest: FetchRequest<any FetchRequestResult>? {
    PersistentHistoryEntities.request(for: PersistentHistoryEntities.change)
  }

  public let changeID: Int64
  public let changedObjectID: ManagedObjectID
  public let changeType: PersistentHistoryChangeType
  /// What was kept of a deleted object, by attribute name.
  public let tombstone: [AnyHashable: Any]?
  /// The changed properties of an update; nil when they were not recorded.
  public let updatedProperties: Set<PropertyDescription>?
  /// The transaction without its list of changes.
  public let transaction: PersistentHistoryTransaction?

  init(_ record: HistoryChangeRecord, transaction: PersistentHistoryTransaction?) {
    changeID = record.number
    changedObjectID = record.objectID
    let entity = record.objectID.entity
    switch record.kind {
    case .insert: changeType = .insert
    case .update: changeType = .update
    case .delete: changeType = .delete
    }
    // Composite attributes are dictionaries of their elements, as in objects.
    var kept: [String: Any] = [:]
    for (name, value) in record.tombstone {
      let slot = entity.layout.slotByName[name]
      let attribute = slot.flatMap { entity.layout.slots[$0].attribute }
      guard let decoded = AttributeCoding.decode(value, for: attribute) else { continue }
      ElementDictionary.put(decoded, at: name.split(separator: ".")[...], in: &kept)
    }
    tombstone = changeType == .delete ? kept : nil
    updatedProperties = record.changedProperties.map { names in
      let properties = entity.propertiesByName
      return Set(names.compactMap { properties[$0] })
    }
    self.transaction = transaction
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What predicates on changes may name.
extension PersistentHistoryChange: KeyValueReading {
  public func value(forKey key: String) -> Any? {
    switch key {
    case "changeID": return NSNumber(value: changeID)
    case "changeType": return NSNumber(value: changeType.rawValue)
    case "changedObjectID": return changedObjectID
    case "changedID": return changedObjectID.rowKey.map { NSNumber(value: $0) }
    case "changedEntity": return changedObjectID.entity
    case "tombstone": return tombstone
    case "transaction": return transaction
    case "updatedProperties": return updatedProperties?.map(\.name).sorted()
    case "self", "SELF": return self
    default: return nil
    }
  }
}
