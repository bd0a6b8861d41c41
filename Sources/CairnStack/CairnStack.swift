// What `import Cairn` and `import CoreData` share: all types, the container and the store types that
// ship. Files that the build plugin generates import it, since they name what CoreData does not.
@_exported import CairnContext
@_exported import CairnCoordinator
@_exported import CairnIdentity
@_exported import CairnMigration
@_exported import CairnModel
@_exported import CairnModelFiles
@_exported import CairnPredicates
@_exported import CairnStore
@_exported import Foundation

/// Stands for the members of this module's types where `import CoreData` re-exports them and no
/// names.
public enum CairnStackMembers {}
