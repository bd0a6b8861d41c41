// The order of the folders of each big target, for FolderOrderTests.

extension FolderOrderTests {
  static let orders: [String: Order] = [
    "CairnContext": context, "CairnModel": model, "CairnSQLite": sqlite,
  ]

  private static let context = Order(
    folders: [
      "Unsafe", "Confinement", "UndoManager", "Requests", "Rows", "Objects", "Graph", "Faults",
      "Relationships", "Keys", "Validation", "Refreshing", "Lifecycle", "Events", "Fetching",
      "Merging", "Saving", "Execution", "Attachment", "Undo", "ObjectStores", "Results",
    ],
    // As ManagedObjectContext, which stands outside of folders: Core Data declares nearly all that
    // can be done as methods of these two, and in Swift a method that subclasses override has to
    // stand in the class.
    doors: ["Objects/ManagedObject.swift": "the class of all objects"])

  private static let model = Order(
    folders: [
      "Unsafe", "PropertyLists", "Values", "Model", "Versioning", "Archiving", "Validation",
      "Layout",
    ],
    // Core Data declares what can be done with a model as methods of these.
    doors: [
      "Model/ManagedObjectModel.swift": "the class of all models",
      "Model/EntityDescription.swift": "the class of all entities, which an ID names",
      "Model/PropertyDescription.swift": "the class of all properties",
      "Model/AttributeDescription.swift": "says how a value is written down",
    ],
    exceptions: [
      "Model/ElementCoding.swift": (["CompiledModel"], "an archive of a model is a compiled model"),
      "Model/ModelCopying.swift": (
        ["versionHash", "entityHashes", "isConfiguration", "precedesByCodePoints"],
        "makes a model of those entities of others that a store was made with"
      ),
    ])

  private static let sqlite = Order(
    // The files outside are the store itself, whose methods name each operation.
    folders: [
      "Unsafe", "Connection", "Rows", "Sidecar", "Watching", "History", "Checksums", "Opening",
      "Inspection", "Maintenance", "Fetching", "Generations", "Saving", "Batches", "Migration",
    ],
    doors: [
      "Saving/SQLiteStore+Writing.swift": "the store's one writer, through which each change goes"
    ],
    exceptions: [
      "Connection/SQLiteFunctions.swift": (
        ["RowSum"], "registers the function that a checksum table sums its rows with"
      ),
      "Connection/SQLiteArguments.swift": (
        ["StoredForm"], "a function reads values as rows have them"
      ),
      "Checksums/ChecksumCheck.swift": (["StoreFinding"], "reports in the words of an inspection"),
      "Opening/SQLiteStore+Opening.swift": (
        ["SQLiteFileSet", "LogCare", "removeUnnamedFiles"],
        "a store that opens begins to be looked after"
      ),
      "Watching/SnapshotCheck.swift": (
        ["MetadataTable"], "the version that is watched stands in that table"
      ),
    ])
}
