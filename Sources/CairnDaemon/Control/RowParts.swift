// The row of an import that comes in parts, since it is longer than a call may be.
import CairnControl
import Synchronization

/// What one connection has brought of a long row; it goes with the connection.
///
/// Mutable state: the text, inside the mutex.
final class RowParts: Sendable {
  /// What the long rows of all connections may take together.
  ///
  /// Mutable state: what is left, inside the mutex.
  final class Room: Sendable {
    private let left: Mutex<Int>

    init(byteCount: Int = 64 << 20) { left = Mutex(byteCount) }

    fileprivate func take(_ count: Int) -> Bool {
      left.withLock { left in
        guard count <= left else { return false }
        left -= count
        return true
      }
    }

    fileprivate func giveBack(_ count: Int) { left.withLock { $0 += count } }
  }

  /// Those of the connection whose call is being answered.
  @TaskLocal static var current: RowParts?

  /// Nil while no row has begun.
  private let text = Mutex<[UInt8]?>(nil)
  private let room: Room
  private let limits: JSONLimits

  /// - Parameter limits: What one row may have.
  init(_ room: Room, limits: JSONLimits = .row) {
    self.room = room
    self.limits = limits
  }

  deinit { drop() }

  var hasBegun: Bool { text.withLock { $0 != nil } }

  /// Adds a piece; what was there before goes when it cannot be taken.
  func add(_ piece: String) throws(ControlError) {
    let problem = text.withLock { text -> ControlError? in
      let (old, count) = (text?.count ?? 0, piece.utf8.count)
      guard old + count <= limits.byteCount else {
        return .limitExceeded(
          limit: limits.byteCount, reason: "a row of an import is longer as JSON")
      }
      guard room.take(count) else {
        return .busy(reason: "other imports have as many long rows under way as there is room for")
      }
      // Pieces are moved, not copied, as they come.
      var bytes = text.take() ?? []
      bytes.append(contentsOf: piece.utf8)
      text = bytes
      return nil
    }
    guard let problem else { return }
    drop()
    throw problem
  }

  /// Hands the whole row over; its room is free afterwards.
  ///
  /// - Throws: ``CairnControl/ControlError/importFailed(line:reason:)`` for what is no JSON object, and what `body`
  ///   throws.
  func takeRow<Result>(
    line: Int, _ body: ([String: JSONValue]) async throws -> Result
  ) async throws -> Result {
    let bytes = text.withLock { $0.take() } ?? []
    defer { room.giveBack(bytes.count) }
    let row: JSONValue
    do {
      row = try JSONParser.parse(bytes, limits: limits)
    } catch let problem as JSONProblem {
      throw ControlError.importFailed(line: line, reason: "not JSON: \(problem)")
    }
    guard let members = row.objectValue else {
      throw ControlError.importFailed(
        line: line, reason: "\(row.kindName) stands where an object is wanted")
    }
    return try await body(members)
  }

  /// Forgets what has come.
  func drop() {
    let count = text.withLock { text in
      defer { text = nil }
      return text?.count ?? 0
    }
    room.giveBack(count)
  }
}
