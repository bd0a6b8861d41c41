// The order of the folders of each big target, for FolderOrderTests.

extension FolderOrderTests {
  static let orders: [String: Order] = [
    "CairnContext": context, "CairnModel": model, "CairnSQLite": sqlite, "CairnSync": sync,
  ]

  private static let context = Order(
    folders: [
      "Confinement", "UndoManager", "Requests", "Rows", "Objects", "Graph", "Faults",
      "Relationships", "Keys", "Validation", "Refreshing", "Lifecycle", "Events", "Fetching",
      "Merging", "Saving", "Execution", "Attachment", "Undo", "ObjectStores", "Results",
    ],
    // As ManagedObjectContext, which stands outside of folders: Core Data declares nearly all that
    // can be done as methods of these two, and in Swift a method that subclasses override has to
    // stand in the class.
    doors: ["Objects/ManagedObject.swift": "the class of all objects"])

  private static let model = Order(
    folders: [
      "Values", "Predicates", "Model", "Versioning", "ModelFiles", "Validation", "Layout",
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
      "Model/ManagedObjectModelReference.swift": (
        ["ModelPackage", "ModelFileError", "isConfiguration"], "finds a model by its file"
      ),
      "Model/ModelCopying.swift": (
        [
          "ModelPackage", "ProgramResources", "ModelResources", "versionHash", "entityHashes",
          "isConfiguration", "precedesByCodePoints",
        ], "makes models of files and of each other"
      ),
      "Predicates/Translation/KeyPathInitializers.swift": (["PropertyNames"], namesOfKeyPaths),
      "Predicates/Translation/SortDescriptorTranslation.swift": (
        ["PropertyNames"], namesOfKeyPaths
      ),
      "Predicates/Translation/TranslatableValues.swift": (["PropertyNames"], namesOfKeyPaths),
      "Values/ArchiveGate.swift": (
        ["KeyedArchive", "BinaryPropertyList"], "looks at an archive before it is opened"
      ),
      "Values/ManagedObjectID.swift": (
        ["LooseReference"], "an ID names its store and does not keep it"
      ),
      "Values/KeyPathText.swift": (["FormatWord"], "a step is a word as predicates have them"),
      "Values/ValueTransformer.swift": (
        ["ClusterMember"], "is decoded under Foundation's names as predicates are"
      ),
    ])
  private static let namesOfKeyPaths = "a key path has the name that generated code tells"

  private static let sqlite = Order(
    // The files outside are the store itself, whose methods name each operation.
    folders: [
      "Connection", "Rows", "Sidecar", "Watching", "History", "Checksums", "Opening",
      "Inspection", "Maintenance", "Fetching", "Generations", "Saving", "Batches", "Migration",
    ],
    doors: [
      "Saving/SQLiteStore+Writing.swift": "the store's one writer, through which each change goes"
    ],
    exceptions: [
      "Connection/SQLiteFunctions.swift": (
        ["RowSum"], "registers the function that a checksum table sums its rows with"
      ),
      "Connection/SQLiteAggregates.swift": (
        ["StoredForm"], "an aggregate reads values as rows have them"
      ),
      "Connection/SQLiteArguments.swift": (
        ["StoredForm"], "a function reads values as rows have them"
      ),
      "Checksums/ChecksumCheck.swift": (["StoreFinding"], "reports in the words of an inspection"),
      "Opening/SQLiteStore+Opening.swift": (
        ["SQLiteFileSet", "LogCare", "removeUnnamedFiles"],
        "a store that opens begins to be looked after"
      ),
      "Watching/VersionWatch.swift": (
        ["MetadataTable"], "the version that is watched stands in that table"
      ),
    ])

  private static let sync = Order(
    // The files outside are the engine, whose methods name each operation, and its settings.
    folders: [
      "Clock", "Wire", "Bookkeeping", "Planning", "Capture", "Changes", "Applying", "Replicas",
      "Comparison", "Retention", "Operations", "Pass", "Repair",
    ],
    exceptions: [
      "Bookkeeping/HeldRecords.swift": (["StoreAccess", "EntityFilter"], readsTheStore),
      "Bookkeeping/JournalIndex.swift": (["StoreAccess"], readsTheStore),
      "Bookkeeping/ReplicaIdentity.swift": (["StoreAccess"], readsTheStore),
      "Bookkeeping/SchemaTranslation.swift": (["StoreAccess"], readsTheStore),
      "Bookkeeping/SchemaUpgrade.swift": (["StoreAccess"], readsTheStore),
      "Bookkeeping/JournalEntry.swift": (["Conflict"], keepsWhatIsPlanned),
      "Bookkeeping/Ledger+Records.swift": (
        ["LinkEnd", "Conflict", "WaitingReference"], keepsWhatIsPlanned
      ),
      "Bookkeeping/MemberPlaces.swift": (["PositionKey"], keepsWhatIsPlanned),
      "Bookkeeping/SyncMaps.swift": (["WaitingReference", "HeldKey"], keepsWhatIsPlanned),
      "Bookkeeping/Ledger.swift": (
        ["RebuiltDigests", "digestOperations"], "a change of a record changes its digest too"
      ),
      "Capture/BootstrapScan.swift": (["BatchPacing"], "scans at the pace of the pass"),
      "Capture/HistoryGap.swift": (["StoreComparison"], "compares what history does not tell"),
      "Capture/Incarnation.swift": (
        ["ReaderNote"], "a store that came back is known by its readers"
      ),
      "Clock/CredibleTime.swift": (
        [
          "ByteReader", "ByteWriter", "RecordEntry", "RecordState", "LinkState", "SyncKey",
          "StoreID", "Ledger",
        ], "finds stamps that no clock can have given in the bookkeeping"
      ),
      "Clock/SeenWrites.swift": (["StoreID", "filledIn"], "a stamp names the store that wrote"),
      "Clock/Stamp.swift": (["StoreID"], "a stamp names the store that wrote"),
      "Comparison/SyncEngine+Verify.swift": (["Link"], aMethodOfTheEngine),
      "Operations/GroupStores.swift": (["Link", "LinkLife"], "starts the links of a group"),
      "Replicas/EntityFilter.swift": (
        ["StoreDifference", "VerifyReport", "DigestBucket"], "narrows a comparison to a replica"
      ),
      "Retention/RememberedDeletes.swift": (["SyncPass"], "is a step of the pass"),
      "Retention/SyncEngine+Retention.swift": (["Link"], aMethodOfTheEngine),
    ])
  private static let readsTheStore = "reads its maps through the store's access"
  private static let keepsWhatIsPlanned = "keeps what planning decided"
  private static let aMethodOfTheEngine = "a method of the engine, which has the links"
}
