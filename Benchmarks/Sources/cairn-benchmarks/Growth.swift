// How costs grow: the same work on a tenth of the objects and on all of them. Linear work takes ten
// times as long, quadratic work a hundred times.

import Cairn
import Foundation

/// One kind of work at both sizes.
struct GrowthResult {
  let name: String
  let small: Double
  let large: Double
  var factor: Double { large / small }
}

/// The work of contexts that must stay linear, on one parent with many children: the shape in which
/// anything quadratic shows.
struct Growth {
  /// The larger number of objects.
  let rows: Int
  let rounds: Int
  let workspace: Workspace
  /// A factor beyond this is not linear any more, whatever caches do.
  static let limit = 25.0

  private typealias Work = (String, (Family) throws -> Double)

  func all(only: String?) throws -> [GrowthResult] {
    let works: [Work] = [
      ("insert and relate", { try $0.insert() }),
      ("save insertions", { try $0.saveInsertions() }),
      ("update and save", { try $0.update() }),
      ("undo insertions", { try $0.undoInsertions(redoing: false) }),
      ("redo insertions", { try $0.undoInsertions(redoing: true) }),
      ("undo updates", { try $0.undoUpdates() }),
      ("undo a cascade", { try $0.undoCascade(saved: false) }),
      ("undo a saved cascade", { try $0.undoCascade(saved: true) }),
      ("save a child context", { try $0.saveChild() }),
      ("merge updates", { try $0.mergeUpdates() }),
      ("merge insertions", { try $0.mergeInsertions() }),
      ("merge deletions", { try $0.mergeDeletions() }),
      ("cascade delete and save", { try $0.cascade() }),
      ("roll back", { try $0.rollBack() }),
      ("remove ordered members", { try $0.changeOrdered(.removal) }),
      ("remove ordered, from the middle", { try $0.changeOrdered(.middleRemoval) }),
      ("delete ordered members", { try $0.changeOrdered(.deletion) }),
      ("let the objects go", { try $0.letGo() }),
      // Foundation's own array grows with these, see README.md: of a million they take minutes.
      ("remove through a held set", { try $0.changeOrdered(.heldRemoval) }),
      ("insert ordered, at the front", { try $0.changeOrdered(.insertion) }),
    ]
    return try works.filter { only.map($0.0.contains) ?? true }.map { name, work in
      let result = GrowthResult(
        name: name, small: try median(of: work, count: rows / 10),
        large: try median(of: work, count: rows))
      show(result)
      return result
    }
  }

  private func median(of work: (Family) throws -> Double, count: Int) throws -> Double {
    var seconds: [Double] = []
    for round in 0...rounds {
      let file = workspace.newFile()
      defer { workspace.remove(file) }
      let stack = try CairnStack(file, history: false)
      let time = try work(Family(stack: stack, count: count))
      try stack.close()
      // The first round warms caches and is not counted.
      if round > 0 { seconds.append(time) }
    }
    return CaseResult.median(seconds)
  }

  func printHeading() {
    print("growth".padding(toLength: 32, withPad: " ", startingAt: 0), terminator: "")
    print("  \(rows / 10) objects  \(rows) objects  factor")
  }

  private func show(_ result: GrowthResult) {
    let name = result.name.padding(toLength: 32, withPad: " ", startingAt: 0)
    let times = String(
      format: "%10.1f ms %12.1f ms %8.1f", result.small * 1000, result.large * 1000,
      result.factor)
    print(name + times + (result.factor > Self.limit ? "  not linear" : ""))
    // A long run shows what it has.
    fflush(nil)
  }
}

/// One parent and its children, and what is done with them; each answers with the seconds of the
/// timed part.
private struct Family {
  let stack: CairnStack
  let count: Int

  @discardableResult
  private func make(in context: ManagedObjectContext) -> ManagedObject {
    let parent = EntityDescription.insertNewObject(forEntityName: "Parent", into: context)
    for number in 0..<count {
      let child = EntityDescription.insertNewObject(forEntityName: "Child", into: context)
      child.setValue("c\(number)", forKey: "name")
      child.setValue(parent, forKey: "parent")
    }
    return parent
  }

  private func fill() throws {
    let context = stack.newContext()
    try context.performAndWait {
      make(in: context)
      try context.save()
    }
  }

  /// Runs the body in a new context that holds all objects.
  private func withObjects(
    undoable: Bool = false,
    _ body: (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Double
  ) throws -> Double {
    try fill()
    let context = stack.newContext()
    return try context.performAndWait {
      if undoable { context.undoManager = UndoManager() }
      let request = FetchRequest<ManagedObject>(entityName: "Child")
      request.returnsObjectsAsFaults = false
      let children = try context.fetch(request)
      guard let parent = try context.fetch(FetchRequest<ManagedObject>(entityName: "Parent")).first
      else { return .nan }
      _ = parent.value(forKey: "children")
      return try body(context, parent, children)
    }
  }

  private func rename(_ children: [ManagedObject]) {
    for child in children { child.setValue("renamed", forKey: "name") }
  }

  /// Saves in another context, and merges that into the one given.
  private func merge(
    into context: ManagedObjectContext,
    _ change: (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Void
  ) throws -> Double {
    let other = stack.newContext()
    // Unchecked: written before the merge begins, by the thread that reads it.
    nonisolated(unsafe) var saved: [AnyHashable: Any] = [:]
    let token = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectIDsNotification, object: other, queue: nil
    ) { saved = $0.userInfo ?? [:] }
    defer { NotificationCenter.default.removeObserver(token) }
    try other.performAndWait {
      let children = try other.fetch(FetchRequest<ManagedObject>(entityName: "Child"))
      guard let parent = try other.fetch(FetchRequest<ManagedObject>(entityName: "Parent")).first
      else { return }
      try change(other, parent, children)
      try other.save()
    }
    return timed {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context])
    }
  }

  func insert() throws -> Double {
    let context = stack.newContext()
    return context.performAndWait {
      timed {
        make(in: context)
        context.processPendingChanges()
      }
    }
  }

  func saveInsertions() throws -> Double {
    let context = stack.newContext()
    return try context.performAndWait {
      make(in: context)
      return try timed { try context.save() }
    }
  }

  func update() throws -> Double {
    try withObjects { context, _, children in
      try timed {
        rename(children)
        try context.save()
      }
    }
  }

  func undoInsertions(redoing: Bool) throws -> Double {
    let context = stack.newContext()
    return context.performAndWait {
      context.undoManager = UndoManager()
      make(in: context)
      context.processPendingChanges()
      if !redoing { return timed { context.undo() } }
      context.undo()
      return timed { context.redo() }
    }
  }

  func undoUpdates() throws -> Double {
    try withObjects(undoable: true) { context, _, children in
      rename(children)
      context.processPendingChanges()
      return timed { context.undo() }
    }
  }

  func undoCascade(saved: Bool) throws -> Double {
    try withObjects(undoable: true) { context, parent, _ in
      context.delete(parent)
      context.processPendingChanges()
      if saved { try context.save() }
      return timed { context.undo() }
    }
  }

  func saveChild() throws -> Double {
    let parent = stack.newContext()
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    return try child.performAndWait {
      make(in: child)
      return try timed { try child.save() }
    }
  }

  func mergeUpdates() throws -> Double {
    try withObjects { context, _, _ in
      try merge(into: context) { _, _, children in rename(children) }
    }
  }

  func mergeInsertions() throws -> Double {
    try withObjects { context, _, _ in
      try merge(into: context) { other, parent, _ in
        for _ in 0..<count {
          let child = EntityDescription.insertNewObject(forEntityName: "Child", into: other)
          child.setValue(parent, forKey: "parent")
        }
      }
    }
  }

  func mergeDeletions() throws -> Double {
    try withObjects { context, _, _ in
      try merge(into: context) { other, _, children in
        for child in children { other.delete(child) }
      }
    }
  }

  func cascade() throws -> Double {
    try withObjects { context, parent, _ in
      try timed {
        context.delete(parent)
        try context.save()
      }
    }
  }

  func rollBack() throws -> Double {
    try withObjects { context, parent, children in
      rename(children)
      context.delete(parent)
      context.processPendingChanges()
      return timed { context.rollback() }
    }
  }

  enum OrderedChange {
    /// From the front, by the member's own side.
    case removal
    /// From the front, through a mutable ordered set that the program holds.
    case heldRemoval
    case middleRemoval, deletion
    /// At the front of a list that is empty at first, through a mutable ordered set.
    case insertion
  }

  /// Changes the members of an ordered relationship one by one.
  func changeOrdered(_ change: OrderedChange) throws -> Double {
    let context = stack.newContext()
    return try context.performAndWait {
      func entries(_ count: Int) -> [ManagedObject] {
        (0..<count).map { _ in
          EntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        }
      }
      let list = EntityDescription.insertNewObject(forEntityName: "List", into: context)
      let members = change == .insertion ? [] : entries(count)
      list.setValue(NSOrderedSet(array: members), forKey: "entries")
      try context.save()
      let new = change == .insertion ? entries(count) : []
      let held = change == .heldRemoval ? list.mutableOrderedSetValue(forKey: "entries") : nil
      return try timed {
        switch change {
        case .removal: for member in members { member.setValue(nil, forKey: "list") }
        case .heldRemoval: for member in members { held?.remove(member) }
        case .middleRemoval:
          let half = count / 2
          for place in 0..<half {
            members[half + place].setValue(nil, forKey: "list")
            members[half - 1 - place].setValue(nil, forKey: "list")
          }
        case .deletion: for member in members { context.delete(member) }
        case .insertion:
          for member in new { list.mutableOrderedSetValue(forKey: "entries").insert(member, at: 0) }
        }
        try context.save()
      }
    }
  }

  /// The registry and the row cache forget each object.
  func letGo() throws -> Double {
    try fill()
    let context = stack.newContext()
    return try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Child")
      request.returnsObjectsAsFaults = false
      var children = try context.fetch(request)
      keep(children)
      return timed {
        children = []
        context.processPendingChanges()
      }
    }
  }
}
