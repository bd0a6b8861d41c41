import Foundation

// How a CoreDataError becomes the NSError and CocoaError that Core Data's clients catch.
//
// On Linux a Swift error that is thrown as it is matches neither `catch let error as NSError` nor
// `catch let error as CocoaError`; an NSError matches both, and every structure that can be made of
// one. So the public verbs throw an NSError, and the structure is made of it again when asked for.

/// The NSError that stands for a ``CoreDataError`` and can be turned back into it.
// Unchecked: immutable; what it holds is what the structure holds.
private final class CoreDataNSError: NSError, @unchecked Sendable {
  let original: CoreDataError

  init(_ original: CoreDataError) {
    self.original = original
    super.init(
      domain: CoreDataError.errorDomain, code: original.code.rawValue,
      userInfo: original.errorUserInfo)
  }

  required init?(coder: NSCoder) {
    original = CoreDataError(.coreData, "")
    super.init(coder: coder)
  }

  override var localizedDescription: String { original.message }
  override var description: String { original.description }
}

extension CoreDataError: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError { CoreDataNSError(self) }

  public static func _forceBridgeFromObjectiveC(
    _ source: NSError, result: inout CoreDataError?
  ) {
    result = _unconditionallyBridgeFromObjectiveC(source)
  }

  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CoreDataError?
  ) -> Bool {
    result = (source as? CoreDataNSError)?.original
    return result != nil
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CoreDataError {
    if let known = (source as? CoreDataNSError)?.original { return known }
    return CoreDataError(
      Code(rawValue: source?.code ?? Code.coreData.rawValue), source?.localizedDescription ?? "",
      userInfo: source?.userInfo ?? [:])
  }

  /// Runs the body of a public verb; what it throws can be caught as `NSError` and `CocoaError`.
  package static func bridging<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as CoreDataError {
      throw error._bridgeToObjectiveC()
    }
  }
}

extension Error {
  /// The error as clients of Core Data know it: an `NSError`, with domain, code and user info.
  package var asCocoaError: any Error {
    (self as? CoreDataError)?._bridgeToObjectiveC() ?? self
  }
}
