// `import Cairn` is all a program needs: models, stores, coordinators, contexts and the container.
@_exported import CairnContext
@_exported import CairnCoordinator
@_exported import CairnMigration
@_exported import CairnModel
@_exported import CairnStore
@_exported import Foundation
