// Store files whose bytes were damaged anywhere: opened, read and written to.

import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: sqlite-store-format.md – a damaged file is an error or an answer, nothing worse.
@Suite struct DamagedPagesTests {
  /// `CAIRN_FUZZ_ROUNDS` asks for more, as `make fuzz` does.
  private static let rounds =
    ProcessInfo.processInfo.environment["CAIRN_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 150

  @Test(.timeLimit(.minutes(rounds > 150 ? 120 : 10)))
  func filesWithFlippedBytesAreAnErrorOrAnAnswer() throws {
    let seed = TestSeed.get("damaged pages")
    var numbers = SeededNumbers(seed: seed)
    let folder = try TemporaryFolder()
    let model = try HostileStore.model(in: folder.url)
    let whole = try HostileStore(in: folder.url, model: model)
    try whole.fill(items: 40)
    try whole.close()
    let bytes = try Data(contentsOf: whole.url)
    var counts = (opened: 0, read: 0, saved: 0)
    for number in 0..<Self.rounds {
      let place = folder.fileURL("\(number)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: place) }
      try damage(bytes, &numbers).write(to: HostileStore.url(in: place))
      guard
        let store = try? HostileStore(
          in: place, model: model, options: [StoreOptionKey.historyTracking: number % 2 == 0])
      else { continue }
      counts.opened += 1
      let (isRead, isSaved) = use(store)
      counts.read += isRead ? 1 : 0
      counts.saved += isSaved ? 1 : 0
      try? store.close()
    }
    // Most of a file is content, which only its reader can find wrong.
    #expect(counts.opened > 25 && counts.read > 10 && counts.saved > 5, "seed \(seed): \(counts)")
  }

  /// Bytes, runs of bytes or whole pages changed.
  private func damage(_ bytes: Data, _ numbers: inout SeededNumbers) -> Data {
    var result = bytes
    for _ in 0..<Int.random(in: 1...6, using: &numbers) {
      let place = Int.random(in: result.indices, using: &numbers)
      switch Int.random(in: 0..<8, using: &numbers) {
      case 0:
        let end = min(result.endIndex, place + Int.random(in: 1...64, using: &numbers))
        for index in place..<end { result[index] = UInt8.random(in: 0...255, using: &numbers) }
      case 1:
        let page = place / 4096 * 4096
        let other = Int.random(in: 0..<(result.count / 4096), using: &numbers) * 4096
        result.replaceSubrange(page..<(page + 4096), with: bytes[other..<(other + 4096)])
      case 2 where place > 8192: result = result.prefix(place)
      case 3: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      default: result[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
      }
      if result.count < bytes.count { return result }
    }
    return result
  }

  /// Reads everything, changes some of it and saves.
  private func use(_ store: HostileStore) -> (isRead: Bool, isSaved: Bool) {
    let context = store.context
    return context.performAndWait {
      var isRead = true
      for entity in ["Item", "Tag", "Box", "Part"] {
        do {
          let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
          for object in objects { read(object) }
          objects.first?.setValue(entity == "Part" ? 7 : "new", forKey: Self.firstKey(entity))
          if let last = objects.last, objects.count > 3 { context.delete(last) }
        } catch {
          isRead = false
        }
      }
      let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue("added", forKey: "name")
      let part = EntityDescription.insertNewObject(forEntityName: "Part", into: context)
      part.setValue(item, forKey: "item")
      do {
        try context.save()
        return (isRead, true)
      } catch {
        return (isRead, false)
      }
    }
  }

  private static func firstKey(_ entity: String) -> String { entity == "Part" ? "size" : "name" }

  private func read(_ object: ManagedObject) {
    for (name, property) in object.entity.propertiesByName {
      let value = object.value(forKey: name)
      guard property is RelationshipDescription else { continue }
      if let one = value as? ManagedObject { _ = one.value(forKey: "objectID") }
      if let many = value as? NSSet { _ = many.count }
      if let many = value as? NSOrderedSet { _ = many.count }
    }
  }
}
