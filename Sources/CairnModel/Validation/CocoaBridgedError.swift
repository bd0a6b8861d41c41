import CairnPredicates
import Foundation

// How errors of the library become the NSError and CocoaError that Core Data's clients catch.
//
// On Linux a Swift error that is thrown as it is matches neither `catch let error as NSError` nor
// `catch let error as CocoaError`; an NSError matches both, and every structure that can be made of
// one. So the public verbs throw an NSError, and the structure is made of it again when asked for.

/// An error of the library that is thrown as an `NSError` with the domain `NSCocoaErrorDomain`.
///
/// The default implementations do everything; a type says its code and user info.
public protocol CocoaBridgedError: Error, CustomStringConvertible, _ObjectiveCBridgeable
where _ObjectiveCType == NSError {
  /// Core Data's code.
  var cocoaCode: Int { get }
  /// The user info, `NSLocalizedDescriptionKey` included.
  var cocoaUserInfo: [String: Any] { get }
}

/// The NSError that stands for an error of the library and can be turned back into it.
// Unchecked: immutable; what it holds is what the structure holds.
package final class BridgedNSError: NSError, @unchecked Sendable {
  let original: (any CocoaBridgedError)?

  init(_ original: any CocoaBridgedError) {
    self.original = original
    super.init(
      domain: NSCocoaErrorDomain, code: original.cocoaCode, userInfo: original.cocoaUserInfo)
  }

  package required init?(coder: NSCoder) {
    original = nil
    super.init(coder: coder)
  }

  package override var localizedDescription: String {
    userInfo[NSLocalizedDescriptionKey] as? String ?? super.localizedDescription
  }
  package override var description: String { original?.description ?? super.description }
}

extension CocoaBridgedError {
  public var cocoaUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

  public func _bridgeToObjectiveC() -> NSError { BridgedNSError(self) }

  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
    result = (source as? BridgedNSError)?.original as? Self
  }

  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout Self?
  ) -> Bool {
    result = (source as? BridgedNSError)?.original as? Self
    return result != nil
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
    guard let known = (source as? BridgedNSError)?.original as? Self else {
      // Only `error as! Self` of an error that is another one gets here.
      fatalError("\(source.map { "\($0)" } ?? "nil") is no \(Self.self)")
    }
    return known
  }
}

extension Error {
  /// The error as clients of Core Data know it: an `NSError`, with domain, code and user info.
  ///
  /// Errors of the program's own stay what they are.
  package var asCocoaError: any Error {
    if let known = self as? any CocoaBridgedError { return known._bridgeToObjectiveC() }
    // Foundation throws the structure for files.
    if let cocoa = self as? CocoaError { return cocoa as NSError }
    return self
  }
}

extension ModelError: CocoaBridgedError {
  public var cocoaCode: Int { 134020 }
  public var cocoaUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, "reason": problems.first?.description ?? description]
  }
}

extension ModelFileError: CocoaBridgedError {
  public var cocoaCode: Int {
    problems.first?.code == .unreadable
      ? CocoaError.Code.fileReadNoSuchFile.rawValue : CocoaError.Code.fileReadCorruptFile.rawValue
  }
  public var cocoaUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, NSFilePathErrorKey: file]
  }
}

extension PredicateEvaluationError: CocoaBridgedError {
  public var cocoaCode: Int { 134060 }
}

extension PredicateTranslationError: CocoaBridgedError {
  public var cocoaCode: Int { 134060 }
}

extension PredicateFormatError: CocoaBridgedError {
  public var cocoaCode: Int { 134060 }
}

extension AttributeCodingError: CocoaBridgedError {
  public var cocoaCode: Int { 134060 }
}
