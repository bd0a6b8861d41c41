import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// A model with every kind of attribute and relationship.
enum SampleModel {
  /// Company ⇄ Employee (ordered), Manager inherits from Employee, Employee ⇄ Project, Employee →
  /// Note without inverse, Employee friends of each other.
  static func make() throws -> ManagedObjectModel {
    let company = EntityDescription(name: "Company")
    let employee = EntityDescription(name: "Employee")
    let manager = EntityDescription(name: "Manager")
    let project = EntityDescription(name: "Project")
    let note = EntityDescription(name: "Note")
    employee.subentities = [manager]

    let employees = toMany("employees", employee, isOrdered: true)
    let employer = toOne("company", company)
    connect(employees, employer)
    let boss = toOne("boss", employee)
    let reports = toMany("reports", employee)
    connect(boss, reports)
    let projects = toMany("projects", project)
    let members = toMany("members", employee, isOrdered: true)
    connect(projects, members)
    let friends = toMany("friends", employee)
    friends.inverseRelationship = friends

    company.properties = [
      AttributeDescription(name: "name", type: .string),
      AttributeDescription(name: "founded", type: .date), employees,
    ]
    let email = AttributeDescription(name: "email", type: .string)
    email.preservesValueInHistoryOnDeletion = true
    let photo = AttributeDescription(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    let scratch = AttributeDescription(name: "scratch", type: .string)
    scratch.isTransient = true
    employee.properties = [
      AttributeDescription(name: "name", type: .string), email, photo, scratch,
      AttributeDescription(name: "age", type: .integer32),
      AttributeDescription(name: "salary", type: .decimal),
      AttributeDescription(name: "rating", type: .double),
      AttributeDescription(name: "score", type: .float),
      AttributeDescription(name: "isActive", type: .boolean),
      AttributeDescription(name: "born", type: .date),
      AttributeDescription(name: "badge", type: .uuid),
      AttributeDescription(name: "site", type: .uri),
      AttributeDescription(name: "data", type: .binaryData),
      employer, boss, reports, projects, friends, toMany("notes", note, isOrdered: true),
    ]
    employee.uniquenessConstraints = [["email"]]
    manager.properties = [AttributeDescription(name: "level", type: .integer16)]
    project.properties = [
      AttributeDescription(name: "title", type: .string), members,
    ]
    note.properties = [AttributeDescription(name: "text", type: .string)]

    let model = ManagedObjectModel()
    model.entities = [company, employee, manager, project, note]
    try model.prepareForUse()
    return model
  }

  static func toOne(_ name: String, _ destination: EntityDescription) -> RelationshipDescription {
    let result = RelationshipDescription()
    result.name = name
    result.destinationEntity = destination
    result.maxCount = 1
    return result
  }

  static func toMany(
    _ name: String, _ destination: EntityDescription, isOrdered: Bool = false
  ) -> RelationshipDescription {
    let result = RelationshipDescription()
    result.name = name
    result.destinationEntity = destination
    result.isOrdered = isOrdered
    return result
  }

  static func connect(_ a: RelationshipDescription, _ b: RelationshipDescription) {
    a.inverseRelationship = b
    b.inverseRelationship = a
  }
}

/// A store in a folder of its own, removed at the end.
final class StoreFixture {
  private let temporary: TemporaryFolder
  var folder: URL { temporary.url }
  let url: URL
  let model: ManagedObjectModel
  let store: SQLiteStore
  /// Said by tests that damage the file; of all others nothing is found at the end.
  var isDamagedOnPurpose = false

  init(options: [AnyHashable: Any] = [:], model: ManagedObjectModel? = nil) throws {
    temporary = try TemporaryFolder()
    url = temporary.fileURL("Test.sqlite")
    self.model = try model ?? SampleModel.make()
    store = try Self.open(url, self.model, options)
  }

  deinit {
    if !isDamagedOnPurpose,
      let found = try? StoreInspection(contentsOf: url, isStrict: true).damage
    {
      #expect(found == [], "left in the store of a test")
    }
    try? store.close()
  }

  static func open(
    _ url: URL, _ model: ManagedObjectModel, _ options: [AnyHashable: Any] = [:]
  ) throws -> SQLiteStore {
    let store = SQLiteStore(
      configuration: StoreConfiguration(
        model: model, configurationName: nil, url: url, options: StoreOptions(options)))
    try store.loadMetadata()
    return store
  }

  /// A second, independent store on the same file.
  func another(options: [AnyHashable: Any] = [:]) throws -> SQLiteStore {
    try Self.open(url, model, options)
  }

  func entity(_ name: String) throws -> EntityDescription {
    guard let entity = model.entitiesByName[name] else { throw MissingName(name: name) }
    return entity
  }

  func relationship(_ entity: String, _ name: String) throws -> RelationshipDescription {
    guard let result = try self.entity(entity).relationshipsByName[name] else {
      throw MissingName(name: name)
    }
    return result
  }

  /// A new row with values by name.
  func row(
    _ entity: String, _ values: [String: AttributeValue] = [:], id: ManagedObjectID? = nil
  ) throws -> RowSnapshot {
    let description = try self.entity(entity)
    let objectID = try id ?? store.obtainPermanentIDs(for: [description])[0]
    let slots = description.layout.slots.map { values[$0.name] ?? .null }
    return RowSnapshot.make(objectID: objectID, version: 0, values: slots)
  }

  @discardableResult
  func insert(_ rows: [RowSnapshot]) throws -> [RowSnapshot] {
    var request = SaveChangesRequest()
    request.insertions = rows.map { .init(snapshot: $0) }
    return try receipt(store.save(request)).snapshots
  }

  func receipt(_ outcome: SaveOutcome) throws -> SaveReceipt {
    guard case .saved(let receipt) = outcome else { throw NotSaved(outcome: "\(outcome)") }
    return receipt
  }

  /// An update of a row with new values by name.
  func update(
    _ row: RowSnapshot, _ values: [String: AttributeValue], overwrites: Bool = false
  ) -> SaveChangesRequest.Update {
    let layout: EntityLayout = row.objectID.entity.layout
    var slots = row.values
    var changed: [Int] = []
    for (name, value) in values {
      guard let slot = layout.slotByName[name] else { continue }
      slots[slot] = value
      changed.append(slot)
    }
    return .init(
      snapshot: .make(objectID: row.objectID, version: row.version, values: slots),
      changedSlots: changed.sorted(), overwritesConflicts: overwrites)
  }

  func value(_ row: RowSnapshot, _ name: String) -> AttributeValue {
    row.objectID.entity.layout.slotByName[name].map { row[$0] } ?? .null
  }

  func fetch(
    _ entity: String, _ predicate: String? = nil, sort: String? = nil
  ) throws -> [RowSnapshot] {
    var request = StoreFetchRequest(
      entity: try self.entity(entity),
      predicate: predicate.map { ObjectPredicate(format: $0) })
    if let sort { request.sortDescriptors = [ObjectSortDescriptor(key: sort, ascending: true)] }
    return try #require(try store.fetch(request).snapshots)
  }

  /// The first column of every row of a query, as text, through a connection of its own.
  func column(_ sql: String) throws -> [String] {
    try StoreFileAccess.write(url, options: StoreOptions(), doing: "be read") { connection in
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      var result: [String] = []
      while try statement.step() {
        result.append(statement.isNull(0) ? "NULL" : statement.string(0))
      }
      return result
    }
  }
}

struct MissingName: Error { let name: String }
struct NotSaved: Error { let outcome: String }
