import Foundation
import Synchronization

/// Whether contexts check that they are used on their queues.
///
/// Off by default, as on Apple's platforms; a program turns it on with the launch argument
/// `-com.apple.CoreData.ConcurrencyDebug 1`, or with the environment variable of that name or
/// `CAIRN_CONCURRENCY_DEBUG`. The argument decides over the variables. Each context reads the
/// switch once, when the program makes it.
package enum ConcurrencyDebug {
  package static let name = "com.apple.CoreData.ConcurrencyDebug"
  static let ownName = "CAIRN_CONCURRENCY_DEBUG"

  private static let state = Atomic<Bool>(
    asked(
      arguments: ProcessInfo.processInfo.arguments,
      environment: ProcessInfo.processInfo.environment) ?? false)

  static var isOn: Bool { state.load(ordering: .relaxed) }

  /// Turns the check on for contexts made from now on, unless the argument or a variable says no.
  package static func turnOn() {
    let isRefused =
      asked(
        arguments: ProcessInfo.processInfo.arguments,
        environment: ProcessInfo.processInfo.environment) == false
    if !isRefused { state.store(true, ordering: .relaxed) }
  }

  /// What the program was started with says; nil when it says nothing.
  static func asked(arguments: [String], environment: [String: String]) -> Bool? {
    if let index = arguments.lastIndex(of: "-" + name), index + 1 < arguments.count {
      return isYes(arguments[index + 1])
    }
    return (environment[name] ?? environment[ownName]).map(isYes)
  }

  /// A Boolean as user defaults read it from a launch argument.
  private static func isYes(_ text: String) -> Bool {
    let text = text.trimmingCharacters(in: .whitespaces)
    if let number = Int(text) { return number != 0 }
    return ["y", "yes", "true"].contains(text.lowercased())
  }
}
