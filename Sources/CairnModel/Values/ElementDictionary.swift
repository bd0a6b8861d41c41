/// Composite attributes as programs see them: dictionaries of their elements.
package enum ElementDictionary {
  /// Sets what a path of elements leads to, making the dictionaries on the way.
  package static func put(
    _ value: Any?, at path: ArraySlice<Substring>, in dictionary: inout [String: Any]
  ) {
    guard let first = path.first.map(String.init) else { return }
    if path.count == 1 {
      dictionary[first] = AttributeCoding.unwrapped(value)
    } else {
      var nested = dictionary[first] as? [String: Any] ?? [:]
      put(value, at: path.dropFirst(), in: &nested)
      dictionary[first] = nested
    }
  }
}
