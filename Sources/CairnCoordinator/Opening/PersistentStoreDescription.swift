import CairnModel
import CairnStore
import Foundation

/// Everything a coordinator needs to add one store: type, place, options, and whether to do it in
/// the background.
///
/// Source: `NSPersistentStoreDescription`.
///
/// Fill it on one thread, then hand it over. Defaults: SQLite, no configuration, writable, 240
/// seconds of timeout, added synchronously, migrated automatically with an inferred mapping.
open class PersistentStoreDescription: NSObject, NSCopying {
  /// The registered store type.
  open var type: String = StoreTypeName.sqlite
  /// The model configuration whose entities the store holds; nil for all.
  open var configuration: String?
  /// Where the store is.
  ///
  /// `file:///dev/null` unless said otherwise: no place at all, which is enough for a store in
  /// memory, and makes a SQLite store that leaves no file.
  open var url: URL? = URL(fileURLWithPath: "/dev/null")
  /// The options, by key of ``StoreOptionKey``.
  open private(set) var options: [String: NSObject] = [:]
  /// Whether ``PersistentStoreCoordinator/addPersistentStore(with:completionHandler:)`` returns at
  /// once and opens, or migrates, on a background queue.
  ///
  /// Default false.
  open var shouldAddStoreAsynchronously = false
  /// Cairn's own: models that may describe the store as it is now, for automatic migration.
  package var sourceModels: [ManagedObjectModel] = []
  /// Cairn's own: called during a migration with 0…1, on the thread that migrates.
  package var progressReport: (@Sendable (Double) -> Void)?

  public override init() {
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// The description of a SQLite store at `url`.
  public convenience init(url: URL) {
    self.init()
    self.url = url
  }

  /// Sets an option; nil removes it.
  open func setOption(_ option: NSObject?, forKey key: String) {
    options[key] = option
  }

  /// Whether the store must not be written.
  ///
  /// Default false.
  open var isReadOnly: Bool {
    get { flag(StoreOptionKey.readOnly) }
    set { setOption(NSNumber(value: newValue), forKey: StoreOptionKey.readOnly) }
  }

  /// Seconds to wait for a store that another program has locked.
  ///
  /// Default 240.
  open var timeout: TimeInterval {
    get { (options[StoreOptionKey.timeout] as? NSNumber)?.doubleValue ?? 240 }
    set { setOption(NSNumber(value: newValue), forKey: StoreOptionKey.timeout) }
  }

  /// SQLite pragmas to set, by name: what the option `NSSQLitePragmasOption` holds.
  open var sqlitePragmas: [String: NSObject] {
    var pragmas: [String: NSObject] = [:]
    for (name, value) in options[StoreOptionKey.sqlitePragmas] as? NSDictionary ?? [:] {
      guard let name = name as? String else { continue }
      pragmas[name] = value as? NSObject ?? NSString(string: "\(value)")
    }
    return pragmas
  }

  /// Sets a SQLite pragma; nil removes it.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    let option = pragmas.isEmpty ? nil : NSDictionary(dictionary: pragmas)
    setOption(option, forKey: StoreOptionKey.sqlitePragmas)
  }

  /// Whether a store of an older model version is migrated when it is added.
  ///
  /// Default true.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(StoreOptionKey.migrateAutomatically) }
    set { setOption(NSNumber(value: newValue), forKey: StoreOptionKey.migrateAutomatically) }
  }

  /// Whether the difference between the models is inferred.
  ///
  /// Default true.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(StoreOptionKey.inferMappingModel) }
    set { setOption(NSNumber(value: newValue), forKey: StoreOptionKey.inferMappingModel) }
  }

  private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

  /// The options as a coordinator takes them.
  package var storeOptions: [AnyHashable: Any] {
    var result: [AnyHashable: Any] = options
    if !sqlitePragmas.isEmpty {
      result[StoreOptionKey.sqlitePragmas] = sqlitePragmas.mapValues { "\($0)" }
    }
    if !sourceModels.isEmpty {
      result[StoreOptionKey.migrationSourceModels] = sourceModels
    }
    if let progressReport { result[StoreOptionKey.migrationProgress] = progressReport }
    return result
  }

  /// A description with the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = PersistentStoreDescription()
    copy.type = type
    copy.configuration = configuration
    copy.url = url
    copy.options = options
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    copy.sourceModels = sourceModels
    copy.progressReport = progressReport
    return copy
  }

  open override var description: String {
    "<PersistentStoreDescription: \(type) \(url?.absoluteString ?? "without URL")>"
  }
}
