// One operation on a store, run again and again with its 1st, 2nd, 3rd … step failing.

import Cairn
import Foundation
import Testing

/// What is done to a store while things go wrong.
struct FaultyOperation: Sendable, CustomTestStringConvertible {
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
  /// Done to the open store before things go wrong; its unsaved changes are what is saved.
  var prepare: (@Sendable (Shop) throws -> Void)?
  /// The step that things go wrong in: with the store open if `prepare` is there.
  let run: @Sendable (Shop?, URL) throws -> Void

  var testDescription: String { name }
}

/// Runs an operation with every fault of a kind, and looks at store, context and error each time.
struct FaultLoop {
  let operation: FaultyOperation
  let template: URL
  private let folder: FaultFolder

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
  func run(_ kinds: [Fault.Kind]) throws -> Int {
    let (old, new) = try undisturbed()
    try #require((old != new) != operation.changesNothing)
    var faults = 0
    for kind in kinds {
      for lasts in [false, true] {
        var nth = 1
        while try isStruck(Fault(kind: kind, nth: nth, lasts: lasts), old: old, new: new) {
          faults += 1
          nth += 1 + nth / 8
          try #require(nth < 2000, "\(operation.name) never completes")
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
    folder.disarm()
    let struck = folder.injected > 0
    if !struck { #expect(failure == nil, "\(what): \(failure.map { "\($0)" } ?? "")") }
    let found = try contents(what)
    let isEmpty = operation.mayBeEmpty && found.isEmpty
    if failure == nil {
      #expect(found == new, "\(what): reported as done")
    } else {
      #expect(found == old || found == new || isEmpty, "\(what): \(found.count) lines")
    }
    return struck
  }

  /// Runs the operation once, with the fault from the moment the operation itself begins.
  private func attempt(_ fault: Fault? = nil, _ what: String = "") throws {
    guard let prepare = operation.prepare else {
      if let fault { folder.arm(fault) }
      return try operation.run(nil, folder.store)
    }
    let shop = try Shop(at: folder.store)
    defer { try? shop.close() }
    try shop.context.performAndWait {
      try prepare(shop)
      shop.context.processPendingChanges()
    }
    let before = shop.unsaved
    if let fault { folder.arm(fault) }
    do {
      try shop.context.performAndWait { try operation.run(shop, folder.store) }
    } catch {
      folder.disarm()
      try checkContext(of: shop, before: before, what)
      throw error
    }
    folder.disarm()
    #expect(shop.unsaved.isEmpty, "\(what): saved, but still unsaved")
  }

  // MARK: Afterwards

  /// The declared error: Core Data's domain, a known code, and which file.
  private func check(_ error: any Error, _ fault: Fault, _ what: String) {
    guard let error = error as? CoreDataError else {
      Issue.record("\(what): \(type(of: error)) \(error)")
      return
    }
    let expected: Set<CoreDataError.Code>
    switch fault.kind {
    case .open: expected = [.persistentStoreOpen, .persistentStoreSave, .persistentStoreOperation]
    case .fullWrite: expected = [.fileWriteOutOfSpace]
    case .write, .tornWrite, .sync, .truncate, .delete: expected = [.persistentStoreSave]
    }
    #expect(
      expected.union(operation.codes).contains(error.code), "\(what): \(error)")
    // The file that failed: the store itself, or its copy.
    #expect(error.message.contains(folder.url.lastPathComponent), "\(what): \(error)")
    #expect(error.userInfo[NSFilePathErrorKey] != nil, "\(what): \(error.userInfo)")
  }

  /// The context still has all that was not saved, and a second try tells the truth: it saves, or
  /// says why it cannot.
  private func checkContext(of shop: Shop, before: [String], _ what: String) throws {
    #expect(shop.unsaved == before, "\(what): what was unsaved")
    shop.context.performAndWait {
      do {
        try operation.run(shop, folder.store)
        #expect(shop.store.failure == nil, "\(what): saved in spite of an earlier failure")
      } catch let error as CoreDataError {
        let failure = shop.store.failure
        #expect(
          failure != nil && failure?.message == error.message && shop.store.isReadOnly,
          "\(what): then \(error)")
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
