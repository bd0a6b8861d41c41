import Synchronization

/// The class whose managers migrate stores object by object where the class of the store names no other.
///
/// It is above the contract of stores: its module sets it before `main` runs, so that it is known before there is a
/// coordinator. Nil in a program without that module, which cannot migrate.
package enum MigrationManagerClass {
  // A metatype is immutable.
  private struct Entry: @unchecked Sendable {
    let type: AnyClass
  }

  private static let entry = Mutex<Entry?>(nil)

  package static var standard: AnyClass? { entry.withLock { $0?.type } }

  package static func set(_ type: AnyClass) { entry.withLock { $0 = Entry(type: type) } }
}
