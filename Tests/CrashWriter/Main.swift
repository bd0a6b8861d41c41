// A program that saves without pause until it is killed, and tells afterwards whether a save that it
// had acknowledged is gone. `Tests/check-crashes.sh` drives it.
//
//   cairn-crash-writer write STORE ACKNOWLEDGED full|normal|journal   saves, checking what is there first
//   cairn-crash-writer check STORE ACKNOWLEDGED               checks only
//   cairn-crash-writer cut FOLDER                             the file system of the folder loses power
//
// Exit codes: 0 all is there, 3 acknowledged saves are lost, 4 the store is damaged.

import CFaultVFS
import Cairn
import CairnSQLite
import Foundation

struct CrashWriter {
  let store: URL
  /// The numbers of the saves that were reported as done, one a line; not on the disk that fails.
  let acknowledged: URL

  static let model = Result { () throws -> ManagedObjectModel in
    let picture = AttributeDescription(name: "picture", type: .binaryData)
    picture.allowsExternalBinaryDataStorage = true
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Entry",
        properties: [
          AttributeDescription(name: "number", type: .integer64),
          AttributeDescription(name: "text", type: .string), picture,
        ])
    ]
    return model
  }

  /// Every so many entries have a picture, which is kept in a file of its own.
  private static func hasPicture(_ number: Int) -> Bool { number % 20 == 7 }

  private func open(_ level: String) throws -> (PersistentStoreCoordinator, ManagedObjectContext) {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.model.get())
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: store,
      options: [
        StoreOptionKey.historyTracking: true, StoreOptionKey.rowChecksums: true,
        StoreOptionKey.sqlitePragmas: level == "journal"
          ? ["journal_mode": "DELETE"] : ["synchronous": level.uppercased()],
      ])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (coordinator, context)
  }

  private func acknowledgedNumbers() -> [Int] {
    let text = (try? String(contentsOf: acknowledged, encoding: .utf8)) ?? ""
    // The last line may be cut.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
      Int($0)
    }
  }

  /// - Returns: The exit code, and the highest number that is stored.
  private func check(
    _ coordinator: PersistentStoreCoordinator, _ context: ManagedObjectContext, isQuick: Bool
  ) throws -> (code: Int32, last: Int) {
    let entries = try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Entry")
      return try context.fetch(request).reduce(into: [Int: Int]()) { found, entry in
        let picture = entry.value(forKey: "picture") as? Data
        found[entry.value(forKey: "number") as? Int ?? -1] = picture?.count ?? 0
      }
    }
    let lost = acknowledgedNumbers().filter { number in
      guard let size = entries[number] else { return true }
      return Self.hasPicture(number) && size != 110_000
    }
    if !lost.isEmpty {
      print("lost \(lost.count) acknowledged saves: \(lost.prefix(5)) …")
      return (3, 0)
    }
    if !isQuick {
      let problems = try (coordinator.persistentStores.first as? SQLiteStore)?.verifyIntegrity()
      if let problems, !problems.isEmpty {
        print("damaged: \(problems.prefix(3))")
        return (4, 0)
      }
    }
    return (0, entries.keys.max() ?? 0)
  }

  func check() throws -> Int32 {
    let (coordinator, context) = try open("full")
    let result = try check(coordinator, context, isQuick: false)
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return result.code
  }

  func write(_ level: String) throws -> Int32 {
    let (coordinator, context) = try open(level)
    let found = try check(coordinator, context, isQuick: true)
    guard found.code == 0 else { return found.code }
    if !FileManager.default.fileExists(atPath: acknowledged.path) {
      _ = FileManager.default.createFile(atPath: acknowledged.path, contents: nil)
    }
    let notes = try FileHandle(forUpdating: acknowledged)
    try notes.seekToEnd()
    var number = max(found.last, acknowledgedNumbers().max() ?? 0)
    while true {
      number += 1
      try context.performAndWait {
        let entry = EntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue(number, forKey: "number")
        entry.setValue("entry \(number)", forKey: "text")
        if Self.hasPicture(number) {
          entry.setValue(Data(repeating: 7, count: 110_000), forKey: "picture")
        }
        try context.save()
      }
      // One small write: it is there as a whole or not at all.
      try notes.write(contentsOf: Data("\(number)\n".utf8))
    }
  }
}

@main enum Main {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      switch (arguments.first, arguments.count) {
      case ("cut", 2): exit(cfault_shut_down(arguments[2]) == 0 ? 0 : 1)
      case ("check", 3), ("write", 4):
        let writer = CrashWriter(
          store: URL(fileURLWithPath: arguments[2]),
          acknowledged: URL(fileURLWithPath: arguments[3]))
        exit(try arguments.first == "check" ? writer.check() : writer.write(arguments[4]))
      default:
        print("usage: cairn-crash-writer write|check|cut …")
        exit(64)
      }
    } catch {
      print("\(error)")
      exit(1)
    }
  }
}
