// The replica that the daemons of a test share, a file in the folder that their own stores are in.

import CairnModel
import CairnTesting
import Foundation

@testable import CairnSync

/// A replica in a file, and what is needed for daemons that have it.
struct FileHub {
  let scratch: Scratch
  let replica: ReplicaConfiguration

  init() throws {
    scratch = try Scratch()
    replica = Self.replica(in: scratch)
  }

  static func replica(
    in scratch: Scratch, entities: Set<String>? = nil
  ) -> ReplicaConfiguration {
    ReplicaConfiguration(name: "hub", url: scratch.fileURL("hub.sqlite"), entities: entities)
  }

  /// A daemon that has the replica.
  func daemon(
    _ name: String, model: ManagedObjectModel = SampleModel.make(),
    policy: DeleteConflictPolicy = .lastWriter,
    configure: (inout SyncConfiguration) -> Void = { _ in }
  ) throws -> SyncEngineTests.Daemon {
    let daemon = try SyncEngineTests.Daemon(
      name, in: scratch, model: model, policy: policy, configure: configure)
    try daemon.engine.addReplica(replica)
    return daemon
  }
}
