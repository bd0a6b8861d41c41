// Stores whose bytes were changed by the disk: what `verify` says about them.

import Cairn
import CairnSQLite
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 3.4 – SQLite's own check misses about half of all flipped bits in row
/// data, and forgets commits after a flipped bit in the log without a word; sums of rows do not.
@Suite(.timeLimit(.minutes(10))) struct BitFlipTests {
  /// A store with a few hundred rows, closed.
  static let template: Result<TemporaryFolder, any Error> = Result {
    let folder = try TemporaryFolder()
    let shop = try Shop(at: folder.fileURL("Shop.sqlite"))
    try shop.fill()
    try shop.context.performAndWait {
      for number in 0..<200 {
        shop.insert("row \(number) \(Shop.words(60))", count: number * 1_000_003)
      }
      try shop.context.save()
    }
    try shop.store.checkpoint()
    try shop.close()
    return folder
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func copy() throws -> URL {
    let copy = folder.fileURL("copy")
    try FileManager.default.copyItem(at: try Self.template.get().url, to: copy)
    return copy.appendingPathComponent("Shop.sqlite")
  }

  @Test func everyFlippedBitThatChangesAnObjectIsFound() throws {
    let seed = TestSeed.get("bit flips")
    var numbers = SeededNumbers(seed: seed)
    let url = try copy()
    let bytes = try Data(contentsOf: url)
    let whole = try Shop(at: url)
    let contents = try whole.contents()
    try whole.close()
    var (changed, foundByUsAlone) = (0, 0)
    for _ in 0..<120 {
      var damaged = bytes
      let place = Int.random(in: 0..<bytes.count, using: &numbers)
      damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: url.path + suffix)
      }
      try damaged.write(to: url)
      // What cannot be opened has been noticed.
      guard let shop = try? Shop(at: url) else { continue }
      defer { try? shop.close() }
      let problems = (try? shop.store.verifyIntegrity()) ?? ["unreadable"]
      let isChanged = (try? shop.contents()) != contents
      guard isChanged else { continue }
      changed += 1
      #expect(!problems.isEmpty, "seed \(seed), byte \(place): not noticed")
      if problems.allSatisfy({ $0.contains("x-coredata://") }) { foundByUsAlone += 1 }
    }
    // A good part of the file is rows.
    #expect(
      changed > 10 && foundByUsAlone > 4, "\(changed) changed, \(foundByUsAlone) by sums only")
  }

  @Test func theObjectIsNamed() throws {
    let url = try copy()
    var bytes = try Data(contentsOf: url)
    let text = try #require(bytes.range(of: Data("row 123 abc".utf8)))
    bytes[text.lowerBound + 9] ^= 4
    try bytes.write(to: url)
    let shop = try Shop(at: url)
    defer { try? shop.close() }
    let problems = try shop.store.verifyIntegrity()
    let id = try shop.context.performAndWait {
      try #require(shop.items("name BEGINSWITH 'row 123 '").first).objectID
    }
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?.contains(id.uriRepresentation().absoluteString) == true, "\(problems)")
    // Saving the object is how a person says that it is right as it is.
    try shop.context.performAndWait {
      try shop.items("name BEGINSWITH 'row 123 '").first?.setValue("row 123", forKey: "name")
      try shop.context.save()
    }
    #expect(try shop.store.verifyIntegrity().isEmpty)
  }

  @Test func filesOfExternalDataAreLookedAtToo() throws {
    let url = try copy()
    let name = try #require(Shop.pictureFiles(of: url).first)
    let file = url.deletingLastPathComponent()
      .appendingPathComponent(".Shop_SUPPORT/_EXTERNAL_DATA/\(name)")
    var picture = try Data(contentsOf: file)
    picture[50_000] ^= 1
    try picture.write(to: file)
    let shop = try Shop(at: url)
    defer { try? shop.close() }
    let changed = try shop.store.verifyIntegrity()
    #expect(
      changed.count == 1 && changed[0].contains("picture is not as it was saved"), "\(changed)")
    try FileManager.default.removeItem(at: file)
    let missing = try shop.store.verifyIntegrity()
    #expect(missing.count == 1 && missing[0].contains(name), "\(missing)")
  }

  // MARK: The log

  /// Copies an open store with a log of several commits.
  private func copyWithLog() throws -> URL {
    let url = try copy()
    let shop = try Shop(at: url)
    defer { try? shop.close() }
    for number in 0..<6 {
      try shop.context.performAndWait {
        shop.insert("late \(number)")
        try shop.context.save()
      }
    }
    let copy = folder.fileURL("copy with log")
    try FileManager.default.copyItem(at: url.deletingLastPathComponent(), to: copy)
    try FileManager.default.removeItem(at: copy.appendingPathComponent("Shop.sqlite-shm"))
    return copy.appendingPathComponent("Shop.sqlite")
  }

  @Test(arguments: ["whole", "cut", "flipped", "gone"])
  func aShortenedLogIsNoticedAtOpening(damage: String) throws {
    let url = try copyWithLog()
    let log = URL(fileURLWithPath: url.path + "-wal")
    var bytes = try Data(contentsOf: log)
    switch damage {
    case "cut": try bytes.prefix(bytes.count / 2).write(to: log)
    case "flipped":
      bytes[bytes.count / 2] ^= 16
      try bytes.write(to: log)
    case "gone": try FileManager.default.removeItem(at: log)
    default: break
    }
    let shop = try Shop(at: url)
    let isWhole = damage == "whole"
    #expect(shop.store.findings.isEmpty == isWhole, "\(shop.store.findings)")
    #expect(try shop.store.verifyIntegrity().isEmpty == isWhole)
    if !isWhole {
      #expect(shop.store.findings[0].contains("log was cut short"), "\(shop.store.findings)")
    }
    let late = try shop.contents().filter { $0.hasPrefix("late") }
    #expect((late.count == 6) == isWhole)
    try shop.context.performAndWait {
      shop.insert("next")
      try shop.context.save()
    }
    try shop.close()
    // It has been said; the store goes on from what is there.
    let again = try Shop(at: url)
    #expect(again.store.findings.isEmpty)
    try again.close()
  }
}
