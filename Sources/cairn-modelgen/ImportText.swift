/// An import of a generated file, whose public declarations use what it brings.
enum ImportText {
  /// Public also where imports are internal unless they say otherwise.
  static func lines(_ text: String) -> String {
    guard !text.hasPrefix("@testable") else { return text }
    let isPreconcurrent = text.hasPrefix("@preconcurrency ")
    let plain = isPreconcurrent ? String(text.dropFirst("@preconcurrency ".count)) : text
    let attribute = isPreconcurrent ? "@preconcurrency " : ""
    return [
      "#if hasFeature(InternalImportsByDefault)", "\(attribute)public \(plain)", "#else", text,
      "#endif",
    ].joined(separator: "\n")
  }
}
