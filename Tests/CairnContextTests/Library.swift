// The sample domain of these tests: authors, their books, tags and chapters.
import CairnAtomicStores
import CairnPredicates
import TestSupport
@_spi(Runtime) import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import Testing

/// A class of the program for an entity.
final class Author: ManagedObject {
  var calls: [String] = []
  var onWillSave: ((Author) -> Void)?

  var name: String? {
    get { value(forKey: "name") as? String }
    set { setValue(newValue, forKey: "name") }
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    calls.append("awakeFromInsert")
  }
  override func awakeFromFetch() { calls.append("awakeFromFetch") }
  override func willSave() {
    calls.append("willSave")
    onWillSave?(self)
  }
  override func didSave() { calls.append("didSave") }
  override func prepareForDeletion() { calls.append("prepareForDeletion") }
  override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
  override func didTurnIntoFault() { calls.append("didTurnIntoFault") }
  override func awake(fromSnapshotEvents flags: SnapshotEventType) {
    calls.append("awakeFromSnapshotEvents \(flags.rawValue)")
  }
}

enum Library {
  /// Rules: author.books cascade, author.passport deny, book.author nullify, book.tags nullify
  /// (many-to-many), book.chapters cascade (ordered), chapter.book nullify.
  static func model() -> ManagedObjectModel {
    func attribute(
      _ name: String, _ type: AttributeType, optional: Bool = true, default value: Any? = nil
    ) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: optional, defaultValue: value)
    }
    func toOne(_ name: String, _ rule: DeleteRule = .nullify) -> RelationshipDescription {
      let relationship = RelationshipDescription()
      relationship.name = name
      relationship.maxCount = 1
      relationship.deleteRule = rule
      return relationship
    }
    func toMany(
      _ name: String, _ rule: DeleteRule = .nullify, ordered: Bool = false
    ) -> RelationshipDescription {
      let relationship = RelationshipDescription()
      relationship.name = name
      relationship.deleteRule = rule
      relationship.isOrdered = ordered
      return relationship
    }
    func link(
      _ a: RelationshipDescription, to entity: EntityDescription, _ b: RelationshipDescription,
      to other: EntityDescription
    ) {
      (a.destinationEntity, b.destinationEntity) = (entity, other)
      (a.inverseRelationship, b.inverseRelationship) = (b, a)
    }

    let author = EntityDescription(name: "Author")
    author.managedObjectClassName = "Author"
    let passport = EntityDescription(name: "Passport")
    let work = EntityDescription(name: "Work")
    work.isAbstract = true
    let book = EntityDescription(name: "Book")
    let essay = EntityDescription(name: "Essay")
    work.subentities = [book, essay]
    let tag = EntityDescription(name: "Tag")
    let chapter = EntityDescription(name: "Chapter")

    let books = toMany("books", .cascade)
    let bookAuthor = toOne("author")
    link(books, to: work, bookAuthor, to: author)
    let authorPassport = toOne("passport", .deny)
    let owner = toOne("owner")
    link(authorPassport, to: passport, owner, to: author)
    let tags = toMany("tags")
    let tagged = toMany("works")
    link(tags, to: tag, tagged, to: work)
    let chapters = toMany("chapters", .cascade, ordered: true)
    let chapterBook = toOne("book")
    link(chapters, to: chapter, chapterBook, to: book)
    let friends = toMany("friends")
    friends.destinationEntity = author
    friends.inverseRelationship = friends

    let mood = attribute("mood", .string)
    mood.isTransient = true
    author.properties = [
      attribute("name", .string, optional: false, default: "Anonymous"),
      attribute("born", .date), mood, books, authorPassport, friends,
    ]
    passport.properties = [attribute("number", .integer64), owner]
    let pages = attribute("pages", .integer64, default: 1)
    pages.setValidationPredicates(
      [ObjectPredicate(format: "SELF >= 1")], withValidationWarnings: [1620])
    work.properties = [
      attribute("title", .string), pages, attribute("price", .decimal),
      attribute("isRead", .boolean, default: false), bookAuthor, tags,
    ]
    book.properties = [chapters]
    tag.properties = [attribute("label", .string), tagged]
    tag.uniquenessConstraints = [["label"]]
    chapter.properties = [attribute("title", .string), chapterBook]

    let model = ManagedObjectModel()
    model.entities = [author, passport, work, book, essay, tag, chapter]
    return model
  }
}

/// Where the tests keep their objects.
enum StoreChoice: String, CaseIterable {
  case memory
  case sqlite
}

/// A coordinator with one store, in memory unless said otherwise.
///
/// A file goes with the stack.
final class Stack: Sendable {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  private let folder: TemporaryFolder?

  deinit {
    guard folder != nil else { return }
    // Whatever a test did, the file is as the format asks.
    if let found = try? store.capabilities.integrity?.verifyIntegrity() {
      #expect(found == [], "left in the store of a test")
    }
    try? coordinator.remove(store)
  }

  init(
    history: Bool = false, in choice: StoreChoice = .memory,
    model: ManagedObjectModel = Library.model()
  ) throws {
    Author.registerClass(forEntityName: "Author")
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    var url: URL?
    if choice == .sqlite {
      let folder = try TemporaryFolder()
      self.folder = folder
      url = folder.fileURL("Library.sqlite")
    } else {
      folder = nil
    }
    store = try coordinator.addPersistentStore(
      ofType: choice == .memory ? StoreTypeName.inMemory : StoreTypeName.sqlite,
      configurationName: nil, at: url,
      options: history ? [StoreOptionKey.historyTracking: true] : nil)
  }

  /// Runs the body in a context with another coordinator on the same file.
  func useElsewhere(_ body: (ManagedObjectContext) throws -> Void) throws {
    let other = PersistentStoreCoordinator(
      managedObjectModel: coordinator.managedObjectModel, storeKinds: [SQLiteStoreKind()])
    let twin = try other.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: store.url, options: nil)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = other
    try context.performAndWait { try body(context) }
    try other.remove(twin)
  }

  func context(policy: MergePolicy = .error) -> ManagedObjectContext {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    return context
  }

  /// Runs the body on the queue of a new context.
  func use<Result>(
    policy: MergePolicy = .error, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = context(policy: policy)
    return try context.performAndWait { try body(context) }
  }
}

extension ManagedObjectContext {
  @discardableResult
  func make(_ entity: String, _ values: [String: Any?] = [:]) -> ManagedObject {
    let object = EntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func all(_ entity: String, _ format: String? = nil, sortedBy key: String? = nil) throws
    -> [ManagedObject]
  {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    if let format { request.predicate = ObjectPredicate(format: format) }
    if let key { request.sortDescriptors = [ObjectSortDescriptor(key: key, ascending: true)] }
    return try fetch(request)
  }
}

extension ManagedObject {
  func text(_ key: String) -> String? { value(forKey: key) as? String }
  func number(_ key: String) -> Int? { (value(forKey: key) as? NSNumber)?.intValue }
  func one(_ key: String) -> ManagedObject? { value(forKey: key) as? ManagedObject }
  func many(_ key: String) -> Set<ManagedObject> {
    if let ordered = value(forKey: key) as? NSOrderedSet {
      return Set(ordered.array.compactMap { $0 as? ManagedObject })
    }
    return value(forKey: key) as? Set<ManagedObject> ?? []
  }
}

/// Expects a value that takes something that throws to find out.
func expect<Value: Equatable>(
  _ value: @autoclosure () throws -> Value, is expected: Value, _ comment: Comment? = nil,
  at place: SourceLocation = #_sourceLocation
) throws {
  let value = try value()
  #expect(value == expected, comment, sourceLocation: place)
}
