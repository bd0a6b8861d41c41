// Which users this process can tell from each other.
import Foundation

/// The users that the kernel shows to this process by their own numbers; all others are one stranger to it.
public enum UserNamespace {
  /// Whether next to no user is shown, as in a unit with `PrivateUsers=yes`: root and the process's own.
  public static var hidesUsers: Bool {
    guard let map = try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8) else {
      return false
    }
    return hidesUsers(map)
  }

  /// - Parameter map: Lines of a first number inside, a first number outside, and how many follow each other.
  package static func hidesUsers(_ map: String) -> Bool {
    let counts = map.split(separator: "\n").compactMap { line -> UInt64? in
      let numbers = line.split(whereSeparator: \.isWhitespace)
      return numbers.count == 3 ? UInt64(numbers[2]) : nil
    }
    // A machine of its own has all, a container usually 65536.
    return !counts.isEmpty && counts.allSatisfy { $0 == 1 }
  }
}
