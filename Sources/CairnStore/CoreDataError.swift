import CairnModel
import Foundation

/// What Cairn throws: Core Data's domain and code, what went wrong, where, and what to do.
///
/// The public verbs throw it as an `NSError` with the domain `NSCocoaErrorDomain`, Core Data's code
/// and its user info keys, so that it can be caught in each of the ways programs do:
///
/// ```swift
/// do { try context.save() }
/// catch let error as CocoaError where error.code == .managedObjectMerge { … }
/// catch let error as NSError { print(error.domain, error.code, error.userInfo) }
/// catch let error as CoreDataError { print(error.code, error.message) }
/// ```
// Unchecked: `userInfo` can hold managed objects. They belong to the queue of the context that
// throws the error, where Core Data allows them to be read; everything else in it is immutable.
public struct CoreDataError: Error, CustomNSError, LocalizedError, CustomStringConvertible,
  @unchecked Sendable
{
  /// One of Core Data's error codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// Core Data's code.
  public let code: Code
  /// What is wrong, where, and what would be right.
  public let message: String
  /// Entries under Core Data's user info keys.
  public var userInfo: [String: Any]
  public let underlyingError: (any Error)?

  public init(
    _ code: Code, _ message: String, userInfo: [String: Any] = [:],
    underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.userInfo = userInfo
    self.underlyingError = underlyingError
  }

  public static let errorDomain = "NSCocoaErrorDomain"
  public var errorCode: Int { code.rawValue }
  public var errorDescription: String? { message }
  public var errorUserInfo: [String: Any] {
    var info = userInfo
    info[NSLocalizedDescriptionKey] = message
    if let underlyingError { info[NSUnderlyingErrorKey] = underlyingError.asCocoaError as NSError }
    return info
  }
  public var description: String {
    underlyingError.map { "\(message) (\(code.rawValue)): \($0)" }
      ?? "\(message) (\(code.rawValue))"
  }
}

extension CoreDataError.Code {
  /// Foundation's code for what a caller cancelled.
  public static let userCancelled = Self(rawValue: 3072)
  public static let managedObjectValidation = Self(rawValue: 1550)
  public static let managedObjectConstraintValidation = Self(rawValue: 1551)
  public static let validationMultipleErrors = Self(rawValue: 1560)
  public static let validationMissingMandatoryProperty = Self(rawValue: 1570)
  public static let validationRelationshipLacksMinimumCount = Self(rawValue: 1580)
  public static let validationRelationshipExceedsMaximumCount = Self(rawValue: 1590)
  public static let validationRelationshipDeniedDelete = Self(rawValue: 1600)
  public static let validationNumberTooLarge = Self(rawValue: 1610)
  public static let validationNumberTooSmall = Self(rawValue: 1620)
  public static let validationDateTooLate = Self(rawValue: 1630)
  public static let validationDateTooSoon = Self(rawValue: 1640)
  public static let validationInvalidDate = Self(rawValue: 1650)
  public static let validationStringTooLong = Self(rawValue: 1660)
  public static let validationStringTooShort = Self(rawValue: 1670)
  public static let validationStringPatternMatching = Self(rawValue: 1680)
  public static let validationInvalidURI = Self(rawValue: 1690)
  public static let managedObjectContextLocking = Self(rawValue: 132000)
  public static let persistentStoreCoordinatorLocking = Self(rawValue: 132010)
  /// A fault whose row is gone.
  public static let managedObjectReferentialIntegrity = Self(rawValue: 133000)
  public static let managedObjectExternalRelationship = Self(rawValue: 133010)
  public static let managedObjectMerge = Self(rawValue: 133020)
  public static let managedObjectConstraintMerge = Self(rawValue: 133021)
  /// Not a store, or a store of an unknown kind.
  public static let persistentStoreInvalidType = Self(rawValue: 134000)
  public static let persistentStoreTypeMismatch = Self(rawValue: 134010)
  public static let persistentStoreIncompatibleSchema = Self(rawValue: 134020)
  public static let persistentStoreSave = Self(rawValue: 134030)
  public static let persistentStoreIncompleteSave = Self(rawValue: 134040)
  public static let persistentStoreSaveConflicts = Self(rawValue: 134050)
  public static let coreData = Self(rawValue: 134060)
  public static let persistentStoreOperation = Self(rawValue: 134070)
  public static let persistentStoreOpen = Self(rawValue: 134080)
  public static let persistentStoreTimeout = Self(rawValue: 134090)
  public static let persistentStoreUnsupportedRequestType = Self(rawValue: 134091)
  public static let persistentStoreIncompatibleVersionHash = Self(rawValue: 134100)
  public static let migration = Self(rawValue: 134110)
  public static let migrationConstraintViolation = Self(rawValue: 134111)
  public static let migrationCancelled = Self(rawValue: 134120)
  public static let migrationMissingSourceModel = Self(rawValue: 134130)
  public static let migrationMissingMappingModel = Self(rawValue: 134140)
  public static let migrationManagerSourceStore = Self(rawValue: 134150)
  public static let migrationManagerDestinationStore = Self(rawValue: 134160)
  public static let entityMigrationPolicy = Self(rawValue: 134170)
  public static let sqlite = Self(rawValue: 134180)
  public static let inferredMappingModel = Self(rawValue: 134190)
  public static let externalRecordImport = Self(rawValue: 134200)
  public static let persistentHistoryTokenExpired = Self(rawValue: 134301)
  public static let managedObjectModelReferenceNotFound = Self(rawValue: 134504)
  public static let stagedMigrationFrameworkVersionMismatch = Self(rawValue: 134505)
  public static let stagedMigrationBackwardMigration = Self(rawValue: 134506)
  /// Foundation's code for a disk that is full.
  public static let fileWriteOutOfSpace = Self(rawValue: 640)
  /// Foundation's code for a file whose content is damaged.
  public static let fileReadCorruptFile = Self(rawValue: 259)
}
