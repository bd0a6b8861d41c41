// A process that dies while it saves leaves the old file or the new one.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization
import Testing

/// Section 3 of the document on Core Data's XML format: the file is written beside and renamed.
@Suite(.serialized) struct CrashTests {
  /// Where parent and child meet; the child cannot be handed a value.
  static func folder(_ name: String) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("cairn-crash-\(name)")
  }

  /// Saves without end until another thread of the process ends it.
  static func saveUntilKilled(_ type: String) throws {
    let (_, store) = try Shelf.open(type, at: folder(type).appendingPathComponent("store"))
    let saves = Atomic<Int>(0)
    let killer = Thread {
      while saves.load(ordering: .relaxed) < 20 {}
      fatalError("The power is cut.")
    }
    killer.start()
    while true {
      try Shelf.insert("Tag", ["word": .string(String(repeating: "x", count: 500))], into: store)
      saves.add(1, ordering: .relaxed)
    }
  }

  private func check(_ type: String) throws {
    let folder = Self.folder(type)
    let (_, store) = try Shelf.open(type, at: folder.appendingPathComponent("store"))
    let count = try Shelf.rows("Tag", of: store).count
    #expect(count >= 20, "every save that returned is there")
    // What the dead process may have left beside the file disturbs nobody.
    try Shelf.insert("Tag", [:], into: store)
    let again = try Shelf.open(type, at: folder.appendingPathComponent("store")).1
    #expect(try Shelf.rows("Tag", of: again).count == count + 1)
  }

  private func prepare(_ type: String) throws {
    try? FileManager.default.removeItem(at: Self.folder(type))
    try FileManager.default.createDirectory(
      at: Self.folder(type), withIntermediateDirectories: true)
  }

  @Test func anXMLStoreSurvivesADeathInASave() async throws {
    try prepare("XML")
    defer { try? FileManager.default.removeItem(at: Self.folder("XML")) }
    await #expect(processExitsWith: .failure) { try CrashTests.saveUntilKilled("XML") }
    try check("XML")
  }

  @Test func aBinaryStoreSurvivesADeathInASave() async throws {
    try prepare("Binary")
    defer { try? FileManager.default.removeItem(at: Self.folder("Binary")) }
    await #expect(processExitsWith: .failure) { try CrashTests.saveUntilKilled("Binary") }
    try check("Binary")
  }
}
