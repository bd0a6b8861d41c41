import CairnModel
import Foundation

// A CoreDataError as the NSError and CocoaError that Core Data's clients catch; see
// `CocoaBridgedError`.

extension CoreDataError: CocoaBridgedError {
  public var cocoaCode: Int { code.rawValue }
  public var cocoaUserInfo: [String: Any] { errorUserInfo }

  /// Any error in Core Data's domain can be read as one.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CoreDataError {
    if let source, let known = source as? CoreDataError { return known }
    return CoreDataError(
      Code(rawValue: source?.code ?? Code.coreData.rawValue), source?.localizedDescription ?? "",
      userInfo: source?.userInfo ?? [:])
  }

  /// Runs the body of a public verb; what it throws can be caught as `NSError` and `CocoaError`.
  package static func bridging<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw error.asCocoaError
    }
  }
}
