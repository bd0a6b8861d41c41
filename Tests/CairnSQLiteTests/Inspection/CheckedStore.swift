// A store with something of everything that the format knows, for damaging it.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

enum CheckedStore {
  /// Company ⇄ Employee (ordered), Manager inherits from Employee, which inherits from the abstract
  /// Person; Employee ⇄ Desk one to one; Employee ⇄ Project (ordered); Employee → Note without an
  /// inverse; Note → Company without an inverse.
  static func model() throws -> ManagedObjectModel {
    let person = EntityDescription(name: "Person")
    person.isAbstract = true
    let employee = EntityDescription(name: "Employee")
    let manager = EntityDescription(name: "Manager")
    person.subentities = [employee]
    employee.subentities = [manager]
    let company = EntityDescription(name: "Company")
    let desk = EntityDescription(name: "Desk")
    let project = EntityDescription(name: "Project")
    let note = EntityDescription(name: "Note")

    let employees = SampleModel.toMany("employees", employee, isOrdered: true)
    let employer = SampleModel.toOne("company", company)
    SampleModel.connect(employees, employer)
    let boss = SampleModel.toOne("boss", employee)
    let reports = SampleModel.toMany("reports", employee)
    SampleModel.connect(boss, reports)
    let seat = SampleModel.toOne("desk", desk)
    let sitter = SampleModel.toOne("owner", employee)
    SampleModel.connect(seat, sitter)
    let projects = SampleModel.toMany("projects", project)
    let members = SampleModel.toMany("members", employee, isOrdered: true)
    SampleModel.connect(projects, members)

    let email = AttributeDescription(name: "email", type: .string)
    email.preservesValueInHistoryOnDeletion = true
    let photo = AttributeDescription(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    person.properties = [AttributeDescription(name: "name", type: .string)]
    employee.properties = [
      email, photo, AttributeDescription(name: "age", type: .integer32),
      AttributeDescription(name: "isActive", type: .boolean),
      AttributeDescription(name: "badge", type: .uuid),
      AttributeDescription(name: "born", type: .date),
      employer, boss, reports, seat, projects,
      SampleModel.toMany("notes", note, isOrdered: true),
    ]
    employee.uniquenessConstraints = [["email"]]
    manager.properties = [AttributeDescription(name: "level", type: .integer16)]
    company.properties = [employees]
    desk.properties = [sitter]
    project.properties = [AttributeDescription(name: "title", type: .string), members]
    note.properties = [
      AttributeDescription(name: "text", type: .string), SampleModel.toOne("about", company),
    ]
    let model = ManagedObjectModel()
    model.entities = [person, employee, manager, company, desk, project, note]
    try model.prepareForUse()
    return model
  }

  /// A store with history and: 1 company, 4 employees (the last a manager, the boss of the others),
  /// 2 desks, 2 projects, 2 notes.
  ///
  /// Employee p1 and p2 have photos in files.
  static func make() throws -> StoreFixture {
    let fixture = try StoreFixture(
      options: [StoreOptionKey.historyTracking: true], model: try model())
    let company = try fixture.row("Company")
    let large = Data(repeating: 7, count: ExternalDataFiles.threshold + 1)
    let employees = try (1...4).map { index -> ManagedObjectID in
      let entity = try fixture.entity(index == 4 ? "Manager" : "Employee")
      return try fixture.store.obtainPermanentIDs(for: [entity])[0]
    }
    let desks = try (0..<2).map { _ in
      try fixture.store.obtainPermanentIDs(for: [fixture.entity("Desk")])[0]
    }
    let projects = try (0..<2).map { try fixture.row("Project", ["title": .string("\($0)")]) }
    let notes = try (0..<2).map { _ in
      try fixture.row("Note", ["text": .string("n"), "about": .object(company.objectID)])
    }
    var request = SaveChangesRequest()
    request.author = "tester"
    var rows = [company] + projects + notes
    for (index, id) in employees.enumerated() {
      var values: [String: AttributeValue] = [
        "name": .string("e\(index)"), "email": .string("e\(index)@x"), "age": .integer(30),
        "isActive": .boolean(true), "badge": .uuid(UUID()), "born": .date(Date()),
        "company": .object(company.objectID),
        "photo": .data(index < 2 ? large : Data([1, 2, 3])),
      ]
      if index < 3 { values["boss"] = .object(employees[3]) }
      if index < 2 { values["desk"] = .object(desks[index]) }
      rows.append(try fixture.row(index == 3 ? "Manager" : "Employee", values, id: id))
    }
    for (index, id) in desks.enumerated() {
      rows.append(try fixture.row("Desk", ["owner": .object(employees[index])], id: id))
    }
    request.insertions = rows.map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship("Company", "employees"), owner: company.objectID,
        order: employees),
      .init(
        relationship: try fixture.relationship("Employee", "notes"), owner: employees[0],
        added: notes.map(\.objectID), order: notes.map(\.objectID)),
    ]
    for project in projects {
      request.links.append(
        .init(
          relationship: try fixture.relationship("Project", "members"), owner: project.objectID,
          added: employees, order: employees))
    }
    _ = try fixture.receipt(fixture.store.save(request))
    var deletion = SaveChangesRequest()
    let gone = try fixture.insert([try fixture.row("Project", ["title": .string("gone")])])[0]
    deletion.deletions = [.init(snapshot: gone)]
    _ = try fixture.receipt(fixture.store.save(deletion))
    var update = SaveChangesRequest()
    update.updates = [
      fixture.update(try fixture.fetch("Project")[0], ["title": .string("new")])
    ]
    _ = try fixture.receipt(fixture.store.save(update))
    return fixture
  }
}
