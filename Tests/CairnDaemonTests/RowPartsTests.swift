// What the daemon holds of a row that comes in parts.
import CairnControl
import Testing

@testable import CairnDaemon

@Suite struct RowPartsTests {
  private func row(_ parts: RowParts) async throws -> [String: JSONValue] {
    try await parts.takeRow(line: 7) { $0 }
  }

  @Test func piecesMakeARowOnce() async throws {
    let parts = RowParts(RowParts.Room())
    #expect(!parts.hasBegun)
    for piece in ["{\"na", "me\":\"n", "", "ut é\"}"] { try parts.add(piece) }
    #expect(parts.hasBegun)
    #expect(try await row(parts) == ["name": "nut é"])
    #expect(!parts.hasBegun)
  }

  @Test(arguments: [
    ("[1]", "an array"), ("{\"name\":", "not JSON"), ("{\"a\":1,\"a\":2}", "twice"),
  ])
  func whatIsNoRowIsRefusedByItsLine(_ text: String, _ words: String) async throws {
    let parts = RowParts(RowParts.Room(byteCount: 100))
    for _ in 0..<20 {
      try parts.add(text)
      let error = await #expect(throws: ControlError.self) { try await row(parts) }
      guard case .importFailed(7, let reason)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.contains(words), "\(reason)")
    }
  }

  @Test func aRowThatIsTooLongIsForgotten() throws {
    let room = RowParts.Room(byteCount: 150)
    let parts = RowParts(room, limits: JSONLimits(byteCount: 100))
    for _ in 0..<20 {
      try parts.add(String(repeating: " ", count: 100))
      #expect(
        throws: ControlError.limitExceeded(
          limit: 100, reason: "a row of an import is longer as JSON")
      ) {
        try parts.add(" ")
      }
      #expect(!parts.hasBegun)
    }
  }

  /// As many values as fit into a message, and no more, whatever a row's length.
  @Test func aRowOfMoreValuesThanACallHasIsRefused() async throws {
    let parts = RowParts(RowParts.Room())
    try parts.add("{\"a\":[" + String(repeating: "1,", count: JSONLimits.row.valueCount) + "1]}")
    await #expect(throws: ControlError.self) { try await row(parts) }
  }

  @Test func theRowsOfAllConnectionsShareTheirRoomAndGiveItBack() async throws {
    let room = RowParts.Room(byteCount: 100)
    let piece = String(repeating: " ", count: 60)
    var first: RowParts? = RowParts(room)
    let second = RowParts(room)
    try first?.add(piece)
    let refused = #expect(throws: ControlError.self) { try second.add(piece) }
    #expect(refused?.name == ControlError.busy(reason: "").name)
    #expect(first?.hasBegun == true)
    // The connection ends.
    first = nil
    try second.add(piece)
  }
}
