// A tree of contexts and the plain dictionaries each of them must agree with.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// One context of the tree.
final class TwinNode {
  let context: ManagedObjectContext
  /// Place of the parent among the nodes; nil for the root.
  let parent: Int?
  var current = PlainLibrary()
  /// The states that undo and redo lead to.
  var undoStates: [PlainLibrary] = []
  var redoStates: [PlainLibrary] = []

  init(context: ManagedObjectContext, parent: Int?) {
    self.context = context
    self.parent = parent
  }

  func forgetUndo() {
    context.undoManager?.removeAllActions()
    undoStates = []
    redoStates = []
  }
}

/// Contexts, the dictionaries they must agree with, and which key stands for which object.
///
/// What happens in one node reaches the nodes below it at once (they are refreshed), so it happens
/// only where those have no changes of their own.
final class ContextTwin {
  let stack: Stack
  private(set) var nodes: [TwinNode] = []
  /// The node that works now.
  var active = 0
  /// What is stored.
  private(set) var stored = PlainLibrary()
  /// All IDs that each object has had.
  private var ids: [Int: [ManagedObjectID]] = [:]
  private var keys: [ManagedObjectID: Int] = [:]
  private var nextKey = 1
  private var nextLabel = 1
  var random: SeededGenerator
  var trail: [String] = []
  /// How many objects a node had at most.
  private(set) var largest = 0

  /// With `parents` a tree: place 0 is the root, the others name the place of their parent.
  init(seed: UInt64, in choice: StoreChoice, parents: [Int] = []) throws {
    stack = try Stack(in: choice)
    random = SeededGenerator(seed: seed)
    nodes = [TwinNode(context: stack.context(), parent: nil)]
    for parent in parents {
      let context = ManagedObjectContext(.privateQueue)
      context.parent = nodes[parent].context
      nodes.append(TwinNode(context: context, parent: parent))
    }
    for node in nodes {
      node.context.performAndWait {
        let manager = UndoManager()
        manager.groupsByEvent = false
        node.context.undoManager = manager
      }
    }
  }

  var node: TwinNode { nodes[active] }
  var context: ManagedObjectContext { node.context }
  var current: PlainLibrary {
    get { node.current }
    set { node.current = newValue }
  }
  /// What the node's changes are changes of.
  var committed: PlainLibrary { node.parent.map { nodes[$0].current } ?? stored }

  // MARK: Objects and keys

  func object(_ key: Int) -> ManagedObject {
    guard let known = ids[key], let id = known.randomElement(using: &random) else {
      fatalError("no object \(key): \(trail.suffix(5))")
    }
    return context.object(with: id)
  }

  func newest(_ key: Int) -> ManagedObjectID? { ids[key]?.last }

  func key(of object: ManagedObject) -> Int { keys[object.objectID] ?? -1 }

  private func note(_ id: ManagedObjectID, _ key: Int) {
    if keys[id] != nil { return }
    keys[id] = key
    ids[key, default: []].append(id)
  }

  /// A key for a new object.
  func newKey() -> Int {
    defer { nextKey += 1 }
    return nextKey
  }

  func learn(_ object: ManagedObject, _ key: Int) { note(object.objectID, key) }
  func learn(_ id: ManagedObjectID, _ key: Int) { note(id, key) }

  func pick(_ kind: Kind) -> Int? { current.keys(kind).randomElement(using: &random) }

  func newText() -> String {
    nextLabel += 1
    return "t\(nextLabel)"
  }

  // MARK: Where something may happen

  private func isBelow(_ place: Int, _ top: Int) -> Bool {
    var above = nodes[place].parent
    while let now = above {
      if now == top { return true }
      above = nodes[now].parent
    }
    return false
  }

  private func isClean(_ place: Int) -> Bool {
    let context = nodes[place].context
    return context.performAndWait { !context.hasChanges }
  }

  /// Whether what happens here would pull the ground from under nobody's changes.
  private func mayChange(_ place: Int, sparing: Int? = nil) -> Bool {
    nodes.indices.allSatisfy { other in
      !isBelow(other, place) || other == sparing || sparing.map { isBelow(other, $0) } == true
        || isClean(other)
    }
  }

  /// Nodes below a changed one see it.
  private func refresh(below place: Int, sparing: Int? = nil, forgetting: Bool = false) {
    for other in nodes.indices
    where isBelow(other, place) && other != sparing && sparing.map({ isBelow(other, $0) }) != true {
      let node = nodes[other]
      guard let parent = node.parent else { continue }
      let same = node.current == nodes[parent].current
      node.context.performAndWait {
        if forgetting { node.context.reset() } else { node.context.refreshAllObjects() }
        if !same || forgetting { node.forgetUndo() }
      }
      node.current = nodes[parent].current
    }
  }

  // MARK: Steps

  /// Runs one random operation of a random node.
  func step() throws {
    var place = Int.random(in: nodes.indices, using: &random)
    while !mayChange(place) { place = (place + 1) % nodes.count }
    active = place
    try context.performAndWait {
      if nodes.count > 1 { trail.append("(\(place))") }
      defer { if trail.last == "(\(place))" { trail.removeLast() } }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<68: try edit()
      case 68..<75: undo()
      case 75..<80: redo()
      case 80..<91: try save()
      case 91..<94: refresh()
      // In a tree most nodes have little to lose and would always be empty.
      case 94..<96:
        if nodes.count == 1 || Int.random(in: 0..<4, using: &random) == 0 {
          discard(isReset: Int.random(in: 0..<3, using: &random) == 0)
        }
      default:
        // The merge itself is not recorded, so what can be undone would be another state.
        if active == 0 { try mergeFromSecondContext() }
      }
      context.processPendingChanges()
    }
    refresh(below: active)
    largest = max(largest, current.kinds.count)
  }

  /// Reads all or single objects again, which changes nothing that is seen.
  private func refresh() {
    guard Bool.random(using: &random),
      let key = current.kinds.keys.sorted().randomElement(using: &random)
    else {
      trail.append("refresh all")
      return context.refreshAllObjects()
    }
    let object = object(key)
    // Without merging, unsaved changes would be lost.
    let mergeChanges = object.hasChanges || Bool.random(using: &random)
    trail.append("refresh \(key) \(mergeChanges ? "merging" : "as a fault")")
    context.refresh(object, mergeChanges: mergeChanges)
  }

  private func edit() throws {
    let before = current
    let count = context.undoManager?.undoCount
    change()
    context.processPendingChanges()
    if context.undoManager?.undoCount != count {
      node.undoStates.append(before)
      node.redoStates = []
    } else if current != before {
      throw TwinError(what: "a change was not recorded for undo")
    }
  }

  private func undo() {
    guard let state = node.undoStates.popLast() else { return }
    trail.append("undo \(node.undoStates.count)")
    context.undo()
    node.redoStates.append(current)
    current = state
  }

  private func redo() {
    guard let state = node.redoStates.popLast() else { return }
    trail.append("redo \(node.redoStates.count)")
    context.redo()
    node.undoStates.append(current)
    current = state
  }

  /// Saves the active node; only to the next level.
  private func save() throws {
    guard let parent = node.parent else { return try saveRoot() }
    guard mayChange(parent, sparing: active) else { return }
    trail.append("save into \(parent)")
    let above = nodes[parent]
    let count = above.context.performAndWait { above.context.undoManager?.undoCount }
    try context.save()
    if above.context.performAndWait({ above.context.undoManager?.undoCount }) != count {
      above.undoStates.append(above.current)
      above.redoStates = []
    }
    above.current = current
    refresh(below: parent, sparing: active)
  }

  private func saveRoot() throws {
    trail.append("save")
    let inserted = context.insertedObjects.map { ($0, key(of: $0)) }
    try context.save()
    for (object, key) in inserted { note(object.objectID, key) }
    stored = current
  }

  private func discard(isReset: Bool) {
    trail.append(isReset ? "reset" : "rollback")
    if isReset { context.reset() } else { context.rollback() }
    // A context without children forgets temporary IDs with everything else.
    if isReset, nodes.count == 1 { ids = ids.compactMapValues { $0.last.map { [$0] } } }
    node.undoStates = []
    node.redoStates = []
    current = committed
    // IDs of objects that are gone for good must not be asked for.
    refresh(below: active, forgetting: true)
  }

  /// Another context has stored something, and the root has merged it.
  func merged(_ changes: [(inout PlainLibrary) -> Void]) {
    for change in changes {
      change(&stored)
      change(&current)
    }
    node.forgetUndo()
  }

  /// A twin that knows only what is stored.
  func reader() -> ContextTwin { ContextTwin(reading: self) }

  private init(reading twin: ContextTwin) {
    stack = twin.stack
    nodes = [TwinNode(context: twin.stack.context(), parent: nil)]
    stored = twin.stored
    ids = twin.ids.compactMapValues { $0.last.map { [$0] } }
    keys = twin.keys
    random = twin.random
    nodes[0].current = stored
  }
}

struct TwinError: Error {
  let what: String
}
