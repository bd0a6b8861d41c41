/// Whether the code under a condition of `#if` is compiled on Linux, as far as the condition says.
struct PlatformCondition {
  private var words: [String]
  private var index = 0

  /// Nil where it depends on more than the platform.
  static func holdsOnLinux(_ text: String) -> Bool? {
    guard let source = try? SwiftText(path: "", bytes: Array(text.utf8)) else { return nil }
    var reader = PlatformCondition(words: source.tokens.map(\.text))
    return reader.either()
  }

  private init(words: [String]) { self.words = words }

  private mutating func take(_ wanted: String...) -> Bool {
    guard index + wanted.count <= words.count,
      Array(words[index..<index + wanted.count]) == wanted
    else { return false }
    index += wanted.count
    return true
  }

  private mutating func either() -> Bool? {
    var result = both()
    while take("|", "|") {
      let other = both()
      result =
        result == true || other == true ? true : (result == nil || other == nil ? nil : false)
    }
    return result
  }

  private mutating func both() -> Bool? {
    var result = one()
    while take("&", "&") {
      let other = one()
      result =
        result == false || other == false ? false : (result == nil || other == nil ? nil : true)
    }
    return result
  }

  private mutating func one() -> Bool? {
    if take("!") { return one().map { !$0 } }
    if take("(") {
      let result = either()
      _ = take(")")
      return result
    }
    guard index < words.count else { return nil }
    let name = words[index]
    index += 1
    if name == "true" { return true }
    if name == "false" { return false }
    guard take("(") else { return nil }
    let argument = index < words.count ? words[index] : ""
    while index < words.count, !take(")") { index += 1 }
    switch name {
    case "os": return argument == "Linux"
    case "canImport": return !AppleModules.isMissing(argument)
    case "targetEnvironment": return false
    default: return nil
    }
  }
}
