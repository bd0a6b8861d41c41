import Foundation

extension String {
  /// The text as a name in SQL, whatever it contains: names in a file can be any.
  var quotedAsName: String {
    "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}
