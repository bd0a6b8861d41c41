// What generated code takes from the module that it imports: the names of types, and the import itself.

/// What the module that generated code imports calls the types that the code names.
///
/// A program that imports CoreData may have types of Cairn's names.
struct FrameworkNames {
  let managedObject: String
  let managedObjectID: String
  let fetchRequest: String

  /// - Parameter module: `CoreData`, or `Cairn` or a module that re-exports it.
  init(importing module: String) {
    let prefix = module == "CoreData" ? "NS" : ""
    managedObject = prefix + "ManagedObject"
    managedObjectID = prefix + "ManagedObjectID"
    fetchRequest = prefix + "FetchRequest"
  }
}

/// An import of a generated file, whose public declarations use what it brings.
enum ImportText {
  /// Brings the members that only generated code calls.
  private static let hooks = "@_spi(Generated) "

  /// The imports of the module under whose names code is generated.
  static func framework(_ module: String) -> [String] {
    // CairnStack has what programs that import CoreData do not see.
    module == "CoreData"
      ? ["import CoreData", "\(hooks)import CairnStack"] : ["\(hooks)import \(module)"]
  }

  /// Public also where imports are internal unless they say otherwise.
  static func lines(_ text: String) -> String {
    guard !text.hasPrefix("@testable") else { return text }
    let attribute = ["@preconcurrency ", hooks].first { text.hasPrefix($0) } ?? ""
    let plain = String(text.dropFirst(attribute.count))
    return [
      "#if hasFeature(InternalImportsByDefault)", "\(attribute)public \(plain)", "#else", text,
      "#endif",
    ].joined(separator: "\n")
  }
}
