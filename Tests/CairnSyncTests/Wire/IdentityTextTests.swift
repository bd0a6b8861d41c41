import Foundation
import Testing

@testable import CairnSync

/// Identities are written and read as UUIDs are.
struct IdentityTextTests {
  @Test func whatIsWrittenIsRead() {
    for uuid in (0..<100).map({ _ in UUID() }) {
      #expect(StoreID(uuid.uuidString)?.uuid == uuid)
      #expect(StoreID(uuid.uuidString.lowercased())?.uuid == uuid)
    }
  }

  @Test(arguments: [
    "", "-", "0f8fad5b-d9cb-469f-a165-70867728950", "0f8fad5b-d9cb-469f-a165-70867728950e0",
    "0f8fad5bd9cb469fa16570867728950e", "0f8fad5bd-9cb-469f-a165-70867728950e",
    "{f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-7086772895g0",
    "0f8fad5b-d9cb-469f-a165-70867728950é", "0f8fad5b d9cb 469f a165 70867728950e",
    "0f8fad5b-d9cb-469f-a165-70867728950\u{0}", "٠f8fad5b-d9cb-469f-a165-70867728950e",
  ])
  func whatIsNoUUIDIsRefused(_ text: String) {
    #expect(StoreID(text) == nil)
    #expect(UUID(uuidString: text) == nil)
  }
}
