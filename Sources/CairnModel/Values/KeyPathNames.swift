import Foundation
import Synchronization

/// A table of the property names of key paths, one class a module; generated beside managed object
/// classes.
///
/// Linux has no Objective-C runtime that knows the name behind `\Person.name`. A class named
/// `CairnKeyPathNames` in the module that declares `Person` is found by itself:
/// ```swift
/// final class CairnKeyPathNames: NSObject, KeyPathNaming {
///   static var keyPathNames: [AnyKeyPath: String] { [\Person.name: "name"] }
/// }
/// ```
/// Other tables are made known with ``KeyPathNames/register(_:)``. Each entry is one step; longer
/// paths are put together from them. A subclass needs entries for inherited properties too, because
/// `\Manager.name` and `\Person.name` are different steps.
public protocol KeyPathNaming: AnyObject {
  /// The names of single steps.
  static var keyPathNames: [AnyKeyPath: String] { get }
}

/// The property names of Swift key paths.
///
/// May be used on any thread.
public enum KeyPathNames {
  /// Mutable state, all of it inside `state`: the registered steps, and the modules looked at.
  private struct State {
    var names: [AnyKeyPath: String] = [:]
    /// Names by the text of a step, for the steps of longer paths and of subclasses.
    var steps: [String: String] = [:]
    var modules: Set<String> = []

    mutating func add(_ names: [AnyKeyPath: String]) {
      for (keyPath, name) in names {
        self.names[keyPath] = name
        let written = KeyPathText.steps(of: keyPath)
        if written.count == 1 { steps[written[0]] = name }
      }
    }
  }
  private static let state = Mutex(State())

  /// Makes the names of single steps known: `[\Person.name: "name"]`.
  public static func register(_ names: [AnyKeyPath: String]) {
    // AnyKeyPath is immutable, but only its subclasses' instances are known to be Sendable.
    let table = Table(names: names)
    state.withLock { $0.add(table.names) }
  }

  /// The key path as Core Data writes it, `company.name`; nil when a step has no known name.
  ///
  /// Steps through optionals (`?` and `!`) leave no trace. Stored properties need no table.
  public static func name(of keyPath: AnyKeyPath) -> String? {
    lookUpModule(of: type(of: keyPath).rootType)
    let table = Table(keyPath: keyPath)
    return state.withLock { state in
      guard let keyPath = table.keyPath else { return nil }
      if let name = state.names[keyPath] { return name }
      let steps = KeyPathText.steps(of: keyPath)
      let names = steps.compactMap { state.steps[$0] ?? KeyPathText.property($0) }
      return names.isEmpty || names.count < steps.count ? nil : names.joined(separator: ".")
    }
  }

  /// Reads the generated table of a module, once.
  private static func lookUpModule(of root: Any.Type) {
    let text = String(reflecting: root)
    guard let module = text.split(separator: ".").first.map(String.init) else { return }
    guard state.withLock({ $0.modules.insert(module).inserted }) else { return }
    if let table = NSClassFromString("\(module).CairnKeyPathNames") as? any KeyPathNaming.Type {
      register(table.keyPathNames)
    }
  }

  // Unchecked: key paths are immutable; the standard library does not say so of AnyKeyPath.
  private struct Table: @unchecked Sendable {
    var names: [AnyKeyPath: String] = [:]
    var keyPath: AnyKeyPath?
  }
}

/// Takes the description of a key path apart.
///
/// The standard library describes a step by its property's name where it is stored, and otherwise
/// by the address of its accessor, which is the same in every path through the property:
/// `\Person.<computed 0x… (Optional<Company>)>?.<computed 0x… (String)>`.
enum KeyPathText {
  /// The text of each step, without optional chaining.
  static func steps(of keyPath: AnyKeyPath) -> [String] {
    let root = "\\\(type(of: keyPath).rootType)"
    var text = Substring(keyPath.debugDescription)
    guard text.hasPrefix(root) else { return [] }
    text = text.dropFirst(root.count)
    var steps: [String] = []
    var step = ""
    var depth = 0
    for sign in text {
      switch sign {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case "." where depth == 0, "?" where depth == 0, "!" where depth == 0:
        if !step.isEmpty { steps.append(step) }
        step = ""
        continue
      default: break
      }
      step.append(sign)
    }
    if !step.isEmpty { steps.append(step) }
    return steps
  }

  /// The name of a stored property; nil for the text of other steps.
  static func property(_ step: String) -> String? {
    FormatWord.isIdentifier(step) ? step : nil
  }
}
