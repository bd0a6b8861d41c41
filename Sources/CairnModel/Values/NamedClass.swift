import Foundation

/// Classes by the names that models and archives give.
package enum NamedClass {
  /// The program's or Foundation's class of that name; nil for none.
  ///
  /// Foundation finds no nested class and none by a mangled name, and writes a line to the log at each
  /// attempt, so it is not asked for those.
  package static func type(named name: String) -> AnyClass? {
    let dots = name.utf8.reduce(0) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 }
    return dots > 1 || name.hasPrefix("_Tt") ? nil : NSClassFromString(name)
  }
}
