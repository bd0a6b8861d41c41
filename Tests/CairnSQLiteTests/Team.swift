// People in two orders, for tests of ordered relationships and links.

import CairnModel
import CairnStore

@testable import CairnSQLite

/// A company and a project with the same people, each in an order of its own.
struct Team {
  let company: ManagedObjectID
  let project: ManagedObjectID
  let people: [ManagedObjectID]
  /// The people as the company has them.
  let order: [ManagedObjectID]
  let projectOrder: [ManagedObjectID]

  /// Inserts them.
  ///
  /// - Parameters:
  ///   - places: Which of the people come first, second …
  ///   - friends: The people who are friends of the last one.
  init(
    in fixture: StoreFixture, order places: [Int], project projectPlaces: [Int],
    friends: [Int] = []
  ) throws {
    let company = try fixture.row("Company", ["name": .string("c")])
    let project = try fixture.row("Project", ["title": .string("p")])
    let rows = try places.indices.map {
      try fixture.row(
        "Employee", ["name": .string("e\($0)"), "company": .object(company.objectID)])
    }
    self.company = company.objectID
    self.project = project.objectID
    people = rows.map(\.objectID)
    order = places.map { rows[$0].objectID }
    projectOrder = projectPlaces.map { rows[$0].objectID }
    var request = SaveChangesRequest()
    request.insertions = ([company, project] + rows).map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship("Company", "employees"), owner: self.company,
        order: order),
      .init(
        relationship: try fixture.relationship("Project", "members"), owner: self.project,
        added: people, order: projectOrder),
    ]
    if let last = people.last, !friends.isEmpty {
      request.links.append(
        .init(
          relationship: try fixture.relationship("Employee", "friends"), owner: last,
          added: friends.map { rows[$0].objectID }))
    }
    _ = try fixture.receipt(fixture.store.save(request))
  }
}
