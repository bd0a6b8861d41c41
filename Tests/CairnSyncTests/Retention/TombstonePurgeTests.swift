import CairnContext
import CairnModel
import CairnStore
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Purge": what went along with a deleted record, however far that goes.
struct TombstonePurgeTests {
  /// Nodes with a parent, which takes its children along.
  private static func model() -> ManagedObjectModel {
    let node = EntityDescription(name: "Node")
    let (parent, children) = (RelationshipDescription(), RelationshipDescription())
    (parent.name, children.name) = ("parent", "children")
    for relationship in [parent, children] { relationship.destinationEntity = node }
    parent.maxCount = 1
    children.deleteRule = .cascadeDeleteRule
    (parent.inverseRelationship, children.inverseRelationship) = (children, parent)
    node.properties = [AttributeDescription(name: "key", type: .string), parent, children]
    let model = ManagedObjectModel()
    model.entities = [node]
    return model
  }

  /// Runs work with so little room that a call for each of some hundred records ends the process.
  private func withSmallStack<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      let outcome = Result { try work() }
      result.withLock { $0 = outcome }
      isDone.signal()
    }
    thread.stackSize = 256 << 10
    thread.start()
    isDone.wait()
    return try #require(result.withLock { $0 }).get()
  }

  /// Each of them is hidden because the one before is: a purge follows them without a call for each.
  @Test func aLongChainThatWentAlongGoesWithItsTombstone() throws {
    let length = 400
    let fleet = Fleet(seed: 6, model: Self.model())
    let (a, hub) = (try fleet.addRetaining("a"), try fleet.addRetaining("hub"))
    func insert(_ key: String, _ site: Fleet.Site) throws {
      try site.write { _ = try site.insert("Node", ["key": key], in: $0) }
    }
    try insert("root", a)
    try fleet.sync([(a, hub)])
    try a.write { context in try a.all("Node", in: context).forEach(context.delete) }
    try hub.write { context in
      var parent = try hub.all("Node", in: context)[0]
      for number in 0..<length {
        parent = try hub.insert("Node", ["key": "\(number)", "parent": parent], in: context)
      }
    }
    for site in [a, hub] { try HistoryCapture(access: site.access).run() }
    try fleet.sync([(a, hub)])
    for site in [a, hub] { try site.purge() }
    fleet.advance(PurgeTests.retention + 1)
    try insert("later", a)
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      let report = try withSmallStack { try site.purge() }
      #expect(report.records == length + 1, "\(site.name): \(report)")
      #expect(try site.entries(.records) == 1)
    }
  }
}
