import CairnStore
import Foundation

/// Looks many keys of one map up, one after the other.
///
/// Keys most often ascend, and lie beside each other or in one gap: where few entries are between two of them, the
/// statement goes on from the one to the other instead of looking the other up from the root.
struct SortedLookup {
  private let statement: SQLiteStatement
  private var last: SidecarKey?
  /// What the statement has come to: the first entry that is not before the last key.
  private var position = Position.none
  /// How many entries it passes before it looks the key up.
  private var patience = Self.most
  private var seeks = 0

  private enum Position { case none, entry, end }
  private static let most = 8
  /// After so many keys that had to be looked up, it is tried to go on again.
  private static let interval = 32

  /// - Parameter table: A name that needs no quotes.
  static func text(_ table: String) -> String {
    "SELECT K, V FROM \(table) WHERE K >= ? ORDER BY K"
  }

  /// - Parameter statement: Of ``text(_:)``.
  init(_ statement: SQLiteStatement) { self.statement = statement }

  /// Call it after the last key.
  mutating func finish() { statement.reset() }

  mutating func value(for key: SidecarKey) throws -> Data? {
    defer { last = key }
    if let last, position != .none, !(key < last), try goOn(to: key) { return found(key) }
    seeks += 1
    if seeks % Self.interval == 0 { patience = Self.most }
    statement.reset()
    key.withUnsafeBytes { statement.bind(copying: $0, at: 1) }
    position = try statement.step() ? .entry : .end
    return found(key)
  }

  /// - Returns: Whether the statement has come to where the key is, or would be.
  private mutating func goOn(to key: SidecarKey) throws -> Bool {
    if position == .end || !isBefore(key) { return true }
    for _ in 0..<patience {
      if try !statement.step() {
        position = .end
        return true
      }
      if !isBefore(key) {
        patience = Self.most
        return true
      }
    }
    patience /= 2
    return false
  }

  private func isBefore(_ key: SidecarKey) -> Bool {
    key.withUnsafeBytes { statement.bytes(0).lexicographicallyPrecedes($0) }
  }

  private func found(_ key: SidecarKey) -> Data? {
    guard position == .entry else { return nil }
    return key.withUnsafeBytes { $0.elementsEqual(statement.bytes(0)) } ? statement.data(1) : nil
  }
}
