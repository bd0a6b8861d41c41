import CairnModel
import Foundation
import Synchronization

/// Migration policy classes by the names that mappings use.
enum PolicyClasses {
  // Metatypes are immutable.
  private struct Entry: @unchecked Sendable {
    let type: EntityMigrationPolicy.Type
  }
  private static let registered = Mutex<[String: Entry]>([:])

  /// The name without what the editor writes for the program's module, which is known only there.
  static func bareName(_ name: String) -> String {
    name.replacingOccurrences(of: "REPLACE_AT_RUNTIME.", with: "")
  }

  static func register(_ type: EntityMigrationPolicy.Type, forName name: String) {
    registered.withLock { $0[name] = Entry(type: type) }
  }

  /// A registered class, or the program's class of that name, with or without its module.
  static func type(named name: String) -> EntityMigrationPolicy.Type? {
    let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if let entry = registered.withLock({ $0[bare] ?? $0[name] }) { return entry.type }
    var candidates = [bare]
    if !bare.contains(".") { candidates.append("\(ProcessInfo.processInfo.processName).\(bare)") }
    let types = candidates.lazy.compactMap(NamedClass.type)
    return types.compactMap { $0 as? EntityMigrationPolicy.Type }.first
  }
}
