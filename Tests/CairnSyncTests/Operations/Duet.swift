import CairnContext
import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Two daemons on one replica, `nas`: what one writes while the other is paused is concurrent.
struct Duet {
  let scratch: Scratch
  /// The group that the operator looks at.
  let here: SyncEngineTests.Daemon
  let there: SyncEngineTests.Daemon
  let replica: URL

  init(
    model: @autoclosure () -> ManagedObjectModel = SampleModel.make(),
    policy: DeleteConflictPolicy = .lastWriter
  ) throws {
    scratch = try Scratch()
    here = try SyncEngineTests.Daemon("here", in: scratch, model: model(), policy: policy)
    there = try SyncEngineTests.Daemon("there", in: scratch, model: model(), policy: policy)
    replica = scratch.url.appendingPathComponent("nas.sqlite")
  }

  func link() throws {
    for daemon in [here, there] {
      try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: replica))
    }
  }

  /// Brings all three stores in step.
  func settle() async throws {
    for daemon in [here, there, here, there] { try await daemon.engine.wait(timeout: .patience) }
  }

  /// What `first` and then `second` write without having seen the other's.
  func concurrently(
    here first: (ManagedObjectContext) throws -> Void,
    there second: (ManagedObjectContext) throws -> Void
  ) async throws {
    try await settle()
    for daemon in [here, there] { try await daemon.engine.rest() }
    try here.site.write(first)
    try HistoryCapture(access: here.site.access).run()
    // The next millisecond, so that the later of the two is the later by its stamp.
    let now = here.site.access.environment.now()
    while here.site.access.environment.now() <= now + 1 {}
    try there.site.write(second)
    try await meet()
  }

  /// Goes on after both have rested, so that `here` takes what `there` wrote: a conflict is in the
  /// journal of the store where it is decided.
  func meet() async throws {
    try there.engine.resume()
    try await there.engine.wait(timeout: .patience)
    try here.engine.resume()
    try await settle()
  }

  func close() async throws {
    try await here.close()
    try await there.close()
  }

  /// A daemon with an item `k` and a tag `t` in all stores.
  static func make(policy: DeleteConflictPolicy = .lastWriter) async throws -> Duet {
    let duet = try Duet(policy: policy)
    try duet.here.site.write { context in
      _ = try duet.here.site.insert(
        "Item", ["key": "k", "value": "first", "other": 1.0], in: context)
      _ = try duet.here.site.insert("Tag", ["name": "t", "note": "n"], in: context)
    }
    try duet.link()
    try await duet.settle()
    return duet
  }
}

extension SyncEngineTests.Daemon {
  func item(_ key: String, _ name: String) throws -> String? {
    try site.write { context in
      try site.find("Item", key, in: context)?.value(forKey: name).map { "\($0)" }
    }
  }

  func set(_ key: String, _ name: String, _ value: Any?, in context: ManagedObjectContext) throws {
    try #require(try site.find("Item", key, in: context)).setValue(value, forKey: name)
  }

  func record(_ entity: String, _ key: String) throws -> RecordID {
    let object = try #require(try site.write { try site.find(entity, key, in: $0)?.objectID })
    return try #require(try engine.recordID(for: object))
  }
}

extension SyncEngine {
  /// Pauses all links and waits for the steps that still run, so that what is written next is not part
  /// of them.
  func rest() async throws {
    try pause()
    for link in try links(nil) { try await link.perform {} }
  }
}
