// A process that migrates a store and is killed at it.

import CFaultVFS
import Cairn
import Foundation
import Testing

/// The migration of a random store from one version to another by a process of its own, which is killed
/// before one of its operations on files, or when it is done if it has not as many.
struct MigrationDeath: Codable, Sendable {
  let seed: UInt64
  let from: Int
  let to: Int
  /// Which operation on a file it does not live to do, from 1.
  let operation: Int
  /// Holds the store, as a run's folder does.
  let folder: String

  /// Lets it happen and waits for it.
  func happen() async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [death = self as MigrationDeath] in
      let folder = URL(fileURLWithPath: death.folder, isDirectory: true)
      let run = try RandomMigrationRun(seed: death.seed, in: folder)
      try #require(cfault_install() == 0)
      let number = cfault_begin(death.folder)
      try #require(number >= 0)
      cfault_arm(
        number,
        UInt32(CFAULT_OPEN | CFAULT_WRITE | CFAULT_SYNC | CFAULT_TRUNCATE | CFAULT_DELETE),
        death.operation, 0, Int32(CFAULT_KILLS))
      // Stores that are one file do not write it through the layer; what they report counts, too.
      try run.migrateStore(from: death.from, to: death.to) { _ in
        _ = cfault_step(number, UInt32(CFAULT_WRITE))
      }
      raise(SIGKILL)
    }
  }
}
