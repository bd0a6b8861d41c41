// One operation on a store, run again and again with its 1st, 2nd, 3rd … step failing.

import Cairn
import CairnSQLite
import CairnTesting
import Foundation
import TestSupport
import Testing

/// What is done to a store while things go wrong.
struct FaultyOperation: Sendable, CustomTestStringConvertible {
  /// The store's URL, and options with which its files go wrong.
  struct Place {
    let url: URL
    let options: [AnyHashable: Any]
  }
  let name: String
  /// Whether there is a store to begin with.
  var needsStore = true
  /// The model to look at the result with.
  var isNewer = false
  /// The store that it makes or changes.
  var result: @Sendable (URL) -> URL = { $0 }
  /// Whether the result holds the same before and after.
  var changesNothing = false
  /// Codes that it has for failures of its own.
  var codes: Set<CoreDataError.Code> = []
  /// Whether the old contents, or none at all, are found when it has failed in any way.
  var mayBeEmpty = false
  /// SQLite's pragmas for the open store.
  var pragmas: [String: String] = [:]
  /// Done to the open store before things go wrong; its unsaved changes are what is saved.
  var prepare: (@Sendable (Shop) throws -> Void)?
  /// The step that things go wrong in: with the store open if `prepare` is there.
  let run: @Sendable (Shop?, Place) throws -> Void

  var testDescription: String { name }
}

/// Runs an operation with every fault of a kind, and looks at store, context and error each time.
struct FaultLoop {
  let operation: FaultyOperation
  let template: URL
  private let folder: FaultFolder

  /// `CAIRN_EVERY_FAULT` asks for every step of long operations, too, as `make faults` does.
  static let isComplete = ProcessInfo.processInfo.environment["CAIRN_EVERY_FAULT"] != nil

  init(_ operation: FaultyOperation, template: URL) throws {
    self.operation = operation
    self.template = template
    folder = try FaultFolder()
  }

  /// Contents before and after an operation that nothing disturbs.
  private func undisturbed() throws -> (old: [String], new: [String]) {
    try folder.refill(from: operation.needsStore ? template : nil)
    let old = operation.needsStore ? try contents() : []
    try folder.refill(from: operation.needsStore ? template : nil)
    try attempt()
    return (old, try contents())
  }

  /// - Returns: How many faults there were.
  func run(_ kinds: [Fault.Kind], _ courses: [Fault.Course]) throws -> Int {
    let (old, new) = try undisturbed()
    try #require((old != new) != operation.changesNothing)
    let seed = TestSeed.get("\(operation.name)")
    var numbers = SeededNumbers(seed: seed)
    var faults = 0
    for kind in kinds {
      for course in courses {
        var nth = 1
        while try isStruck(Fault(kind: kind, nth: nth, course: course), old: old, new: new) {
          faults += 1
          nth += Self.isComplete || nth < 3 ? 1 : Int.random(in: 1...(3 + 3 * nth), using: &numbers)
          try #require(nth < 5000, "\(operation.name) never completes")
        }
      }
    }
    return faults
  }

  /// - Returns: Whether the fault struck at all.
  private func isStruck(_ fault: Fault, old: [String], new: [String]) throws -> Bool {
    let what = "\(operation.name), \(fault)"
    try folder.refill(from: operation.needsStore ? template : nil)
    var failure: (any Error)?
    do {
      try attempt(fault, what)
    } catch {
      failure = error
      check(error, fault, what)
    }
    let struck = folder.injected > 0
    end(fault)
    if case .powerCut(let seed) = fault.course {
      folder.disarm()
      try folder.restore(seed: seed)
    }
    if !struck { #expect(failure == nil, "\(what): \(failure.map { "\($0)" } ?? "")") }
    let found = try contents(what)
    let isEmpty = operation.mayBeEmpty && found.isEmpty
    if failure == nil {
      #expect(found == new, "\(what): reported as done")
    } else {
      #expect(
        found == old || found == new || isEmpty, "\(what), failed with \(failure.debugDescription)")
    }
    try checkFiles(found, mayRemain: failure != nil || fault.kind.concernsRemoval, what)
    return struck
  }

  /// From here on nothing goes wrong any more, or nothing goes right.
  private func end(_ fault: Fault?) {
    if case .powerCut = fault?.course { folder.cutPower() } else { folder.disarm() }
  }

  /// Runs the operation once, with the fault from the moment the operation itself begins.
  private func attempt(_ fault: Fault? = nil, _ what: String = "") throws {
    var place = FaultyOperation.Place(url: folder.store, options: folder.options)
    guard let prepare = operation.prepare else {
      if let fault { folder.arm(fault) }
      defer { end(fault) }
      return try operation.run(nil, place)
    }
    place = .init(
      url: place.url,
      options: place.options.merging([
        StoreOptionKey.sqlitePragmas: ["synchronous": "FULL"].merging(operation.pragmas) { $1 }
      ]) { $1 })
    let shop = try Shop(at: place.url, options: place.options)
    defer { try? shop.close() }
    try shop.context.performAndWait {
      try prepare(shop)
      shop.context.processPendingChanges()
    }
    let before = shop.unsaved
    if let fault { folder.arm(fault) }
    do {
      try shop.context.performAndWait { try operation.run(shop, place) }
    } catch {
      end(fault)
      #expect(shop.unsaved == before, "\(what): what was unsaved")
      if case .powerCut = fault?.course { throw error }
      try checkSecondTry(shop, place, what)
      throw error
    }
    end(fault)
    #expect(shop.unsaved.isEmpty, "\(what): saved, but still unsaved")
  }

  // MARK: Afterwards

  /// The declared error: Core Data's domain, a known code, and which file.
  private func check(_ error: any Error, _ fault: Fault, _ what: String) {
    guard let error = error as? CoreDataError else {
      Issue.record("\(what): \(type(of: error)) \(error)")
      return
    }
    #expect(
      fault.kind.codes.union(operation.codes).contains(error.code), "\(what): \(error)")
    // The file that failed: the store itself, or its copy.
    #expect(error.message.contains(folder.url.lastPathComponent), "\(what): \(error)")
    #expect(error.userInfo[NSFilePathErrorKey] != nil, "\(what): \(error.userInfo)")
  }

  /// A second try tells the truth: it saves, or says why it cannot.
  private func checkSecondTry(_ shop: Shop, _ place: FaultyOperation.Place, _ what: String) throws {
    shop.context.performAndWait {
      do {
        try operation.run(shop, place)
        #expect(
          shop.store.failure == nil || operation.changesNothing,
          "\(what): saved in spite of an earlier failure")
      } catch let error as CoreDataError {
        let failure = shop.store.failure
        guard let failure else {
          // The disk took the transaction along.
          #expect(error.message.contains("no longer there: reading it failed"), "\(what): \(error)")
          return
        }
        #expect(failure.message == error.message && shop.store.isReadOnly, "\(what): then \(error)")
        #expect(error.message.contains("read-only from now on"), "\(what): \(error)")
      } catch {
        Issue.record("\(what): then \(error)")
      }
    }
  }

  /// Opens the store as the next program would, and sees that it is whole.
  private func contents(_ what: String = "undisturbed") throws -> [String] {
    let model = try operation.isNewer ? Shop.newerModel.get() : Shop.model.get()
    do {
      let shop = try Shop(at: operation.result(folder.store), model: model)
      defer { try? shop.close() }
      let problems = try shop.store.verifyIntegrity()
      #expect(problems.isEmpty, "\(what): \(problems)")
      return try shop.contents()
    } catch {
      Issue.record("\(what): cannot be opened any more: \(error)")
      return ["\(error)"]
    }
  }

  /// Nothing is left over, such as of migrations and copies.
  ///
  /// Files that nobody names are left only where one could not be removed, or might have been named
  /// by a commit in doubt; the checker tells of them, and they can be removed later.
  private func checkFiles(_ contents: [String], mayRemain: Bool, _ what: String) throws {
    let url = operation.result(folder.store)
    let left = Shop.pictureFiles(of: url).count - contents.filter { $0.contains(" 110000 ") }.count
    #expect(left >= 0 && (left == 0 || mayRemain), "\(what): \(left) files are left over")
    if left > 0 {
      let told = try StoreInspection(contentsOf: url).findings.filter { $0.rule == .externalData }
      #expect(told.count == left, "\(what): \(left) files are left over: \(told)")
      let model = try operation.isNewer ? Shop.newerModel.get() : Shop.model.get()
      try Shop(at: url, model: model, options: [StoreOptionKey.sqliteManualVacuum: true]).close()
      let stay = Shop.pictureFiles(of: url).count
      #expect(stay == contents.filter { $0.contains(" 110000 ") }.count, "\(what): \(stay) stay")
    }
    if mayRemain { return }
    let known = Set(
      [url, folder.store].flatMap { store in
        let name = store.lastPathComponent
        return ["", "-wal", "-shm", "-cairn"].map { name + $0 }
          + [".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"]
      })
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(known.isSuperset(of: names), "\(what): \(names)")
  }
}

extension Fault.Kind {
  /// What an operation may throw for it.
  fileprivate var codes: Set<CoreDataError.Code> {
    switch self {
    case .open: [.persistentStoreOpen, .persistentStoreSave, .persistentStoreOperation]
    case .fullWrite: [.fileWriteOutOfSpace]
    case .read: [.persistentStoreOperation, .persistentStoreOpen]
    case .delete, .change: [.persistentStoreSave, .persistentStoreOperation, .persistentStoreOpen]
    case .write, .tornWrite, .sync, .truncate: [.persistentStoreSave, .persistentStoreOperation]
    }
  }

  /// Whether files may stay that were to be removed.
  fileprivate var concernsRemoval: Bool {
    switch self {
    case .delete, .change: true
    case .open, .read, .write, .tornWrite, .fullWrite, .sync, .truncate: false
    }
  }
}

extension Shop {
  /// What the context has to save, one line an object.
  var unsaved: [String] {
    context.performAndWait {
      func lines(_ word: String, _ objects: Set<ManagedObject>) -> [String] {
        objects.map { object in
          let changes = object.changedValues().map { "\($0.key)=\($0.value)" }.sorted()
          return "\(word) \(object.entity.name ?? "") "
            + (word == "delete" ? object.objectID.description : "\(changes)")
        }.sorted()
      }
      return lines("insert", context.insertedObjects) + lines("update", context.updatedObjects)
        + lines("delete", context.deletedObjects)
    }
  }
}
