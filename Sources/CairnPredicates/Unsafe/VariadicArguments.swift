import Foundation

/// Takes the arguments of a format string out of a C argument list.
///
/// The C library reads the list: it prints every argument to text, objects as their address. That
/// works wherever there is a C library, whatever the layout of its lists.
enum VariadicArguments {
  private static let separator = "\n"

  /// The arguments in the order of the format's directives.
  ///
  /// The caller promises, as with every C format, that the list holds what the format names, and
  /// that objects live until this returns.
  ///
  /// - Throws: ``PredicateFormatError`` when the format cannot be read.
  static func read(_ list: CVaListPointer, for format: String) throws -> [Any?] {
    let directives = try PredicateLexer.directives(of: format)
    if directives.isEmpty { return [] }
    let text = formatted(directives.map(\.conversion).joined(separator: separator), list)
    let parts = text.split(separator: Character(separator), omittingEmptySubsequences: false)
    return zip(directives, parts).map { value($0, String($1)) }
  }

  private static func formatted(_ format: String, _ list: CVaListPointer) -> String {
    // No conversion prints more than a double in hexadecimal, far less than 64 signs.
    var buffer = [CChar](repeating: 0, count: 64 * format.utf8.count + 1)
    let count = vsnprintf(&buffer, buffer.count, format, list)
    return String(
      decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func value(_ directive: PredicateLexer.Directive, _ text: String) -> Any? {
    switch directive.specifier {
    case .object, .keyPath:
      guard let address = pointer(text) else { return nil }
      return Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
    case .string:
      return pointer(text).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    case .integer, .character:
      if let number = Int64(text) { return number }
      return UInt64(text)
    case .double: return Double(text)
    }
  }

  private static func pointer(_ text: String) -> UnsafeRawPointer? {
    guard text.hasPrefix("0x"), let address = UInt(text.dropFirst(2), radix: 16) else { return nil }
    return UnsafeRawPointer(bitPattern: address)
  }
}
