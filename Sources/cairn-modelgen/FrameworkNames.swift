/// What the module that generated code imports calls the types that the code names.
///
/// A program that imports CoreData may have types of Cairn's names.
struct FrameworkNames {
  let managedObject: String
  let managedObjectID: String
  let fetchRequest: String

  /// - Parameter module: `CoreData`, or `Cairn` or a module that re-exports it.
  init(importing module: String) {
    let prefix = module == "CoreData" ? "NS" : ""
    managedObject = prefix + "ManagedObject"
    managedObjectID = prefix + "ManagedObjectID"
    fetchRequest = prefix + "FetchRequest"
  }
}
