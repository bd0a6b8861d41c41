import CairnControl
import Testing

@testable import CairnDaemon

/// Which failures are the local store's.
@Suite struct LocalHealthTests {
  private func codes(_ reason: String) -> [String] {
    let health = LocalHealth(path: "/data/local.sqlite")
    defer { health.stop() }
    health.note(ControlError.storeUnavailable(name: "x", code: "disk-full", reason: reason))
    return health.problems.map(\.code)
  }

  @Test(arguments: [
    "/data/local.sqlite", "The store at /data/local.sqlite cannot be written.",
    "No room for /data/local.sqlite.", "(/data/local.sqlite)",
  ])
  func aFailureThatNamesTheFileIs(reason: String) {
    #expect(codes(reason) == ["disk-full"])
  }

  @Test(arguments: [
    "/data/local.sqlite.bak", "/data/local.sqlite-2 is full", "/data/local.sqlite/nas", "/data/nas",
  ])
  func aFailureOfAFileWhoseNameBeginsInTheSameWayIsNot(reason: String) {
    #expect(codes(reason) == [])
  }
}
