import Foundation

/// What every managed object tells about itself by key, which Objective-C finds by the names of methods.
///
/// None of it fires a fault.
enum OwnKeys {
  static let readers: [String: @Sendable (ManagedObject) -> Any?] = [
    "objectID": { $0.objectID }, "entity": { $0.entity }, "self": { $0 }, "SELF": { $0 },
    "managedObjectContext": { $0.managedObjectContext },
    "isInserted": { NSNumber(value: $0.isInserted) },
    "inserted": { NSNumber(value: $0.isInserted) },
    "isUpdated": { NSNumber(value: $0.isUpdated) }, "updated": { NSNumber(value: $0.isUpdated) },
    "isDeleted": { NSNumber(value: $0.isDeleted) }, "deleted": { NSNumber(value: $0.isDeleted) },
    "isFault": { NSNumber(value: $0.isFault) }, "fault": { NSNumber(value: $0.isFault) },
    "faultingState": { NSNumber(value: $0.faultingState) },
    "hasChanges": { NSNumber(value: $0.hasChanges) },
    "hasPersistentChangedValues": { NSNumber(value: $0.hasPersistentChangedValues) },
    "hash": { NSNumber(value: $0.hash) }, "description": { $0.description },
    "debugDescription": { $0.debugDescription },
  ]
}
