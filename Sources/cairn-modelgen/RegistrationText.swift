/// The part of a generated file that tells Cairn of its classes and their properties.
struct RegistrationText {
  /// What the file is made from, as part of a name.
  let name: String
  /// Statements that register classes, and fill `names`, a dictionary from key paths to names.
  let statements: [String]

  /// Nothing where there is nothing to tell.
  var lines: [String] {
    if statements.isEmpty { return [] }
    let mark = String(name.unicodeScalars.map { isNamePart($0) ? Character($0) : "_" })
    return [
      "", "private func _cairnDescribe_\(mark)() {", "  var names: [AnyKeyPath: String] = [:]",
    ] + statements.map { $0.hasPrefix("#") ? $0 : "  \($0)" } + [
      "  PropertyNames.add(names)", "}", "",
      "// Linux has no list of classes that could be searched: the linker collects functions that run",
      "// before main. This one only leaves word.",
      "@section(\".init_array\") @used",
      "private let _cairnModule_\(mark): @convention(c) () -> Void =",
      "  { GeneratedModules.register { _cairnDescribe_\(mark)() } }",
    ]
  }

  private func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
  }
}
