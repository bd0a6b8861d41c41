// Values that sources pass to predicate formats as `date as CVarArg`. Foundation on Linux lets only
// numbers, strings and booleans be C arguments.
import Foundation

/// The pointer under which a C argument list carries an object.
///
/// The object made of a value is kept for good, because the reader of the list does not say when it has
/// read it. Predicate formats take their values as they are and never ask for it.
private func encoded(_ object: AnyObject) -> [Int] {
  [Int(bitPattern: Unmanaged.passRetained(object).toOpaque())]
}

extension Date: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(self as NSDate) }
}
extension UUID: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(self as NSUUID) }
}
extension URL: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(self as NSURL) }
}
extension Data: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(self as NSData) }
}
extension Decimal: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(NSDecimalNumber(decimal: self)) }
}
extension Array: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(NSArray(array: self)) }
}
extension Set: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { encoded(NSSet(array: Swift.Array(self))) }
}
extension NSObject: @retroactive CVarArg {
  /// The caller keeps the object.
  public var _cVarArgEncoding: [Int] {
    [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())]
  }
}
