import Foundation

/// What is wrong with a store, as a word that stays the same across versions.
///
/// Sync, the daemon and `cairnctl` use these words where Core Data has numbers.
package enum StoreTrouble: String, Sendable, Hashable, CaseIterable {
  case diskFull = "disk-full"
  case damaged = "store-damaged"
  /// The disk, or the network behind it, does not do what it is asked.
  case diskFailed = "disk-failed"
  case readOnly = "store-read-only"
  case locked = "store-locked"
  case notAStore = "not-a-store"
  case incompatibleModel = "incompatible-model"
  /// Anything else.
  case unavailable = "store-unavailable"
}

extension CoreDataError {
  /// The trouble of the store that the error is about.
  package var storeTrouble: StoreTrouble {
    switch code {
    case .persistentStoreIncompatibleVersionHash, .migrationMissingSourceModel,
      .migrationMissingMappingModel, .inferredMappingModel, .migration,
      .migrationConstraintViolation, .persistentStoreIncompatibleSchema,
      .entityMigrationPolicy:
      return .incompatibleModel
    case .persistentStoreInvalidType, .persistentStoreTypeMismatch,
      .persistentStoreUnsupportedRequestType:
      return .notAStore
    case .persistentStoreTimeout: return .locked
    case .fileWriteOutOfSpace: return .diskFull
    case .fileReadCorruptFile: return .damaged
    default: break
    }
    // SQLite's own code, in its many kinds: SQLITE_READONLY, SQLITE_IOERR, SQLITE_CORRUPT.
    let result = (userInfo["NSSQLiteErrorDomain"] as? NSNumber)?.intValue ?? 0
    switch result & 0xff {
    case 8: return .readOnly
    case 10: return .diskFailed
    case 11: return .damaged
    default: return .unavailable
    }
  }

  /// The place of the store that the error is about, where it names one.
  package var storePath: String? {
    userInfo[NSFilePathErrorKey] as? String ?? (userInfo[NSURLErrorKey] as? URL)?.storePlace
  }
}
