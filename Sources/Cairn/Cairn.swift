// `import Cairn` is all a program needs: models, stores, coordinators, contexts and the container.
// The other files hold what Cairn adds to Core Data's types. `import CoreData` does not bring it,
// because programs for Apple's platforms may have the same of their own.
@_exported import CairnStack
