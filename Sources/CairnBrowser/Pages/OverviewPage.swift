// The first page: what is in the file.

import Cairn
import CairnControl
import Foundation

struct OverviewPage: Sendable {
  struct Fact: Sendable {
    let name: String
    let value: String
  }
  struct Entity: Sendable {
    let name: String
    let link: String
    let isAbstract: Bool
    let superentity: String?
    let attributes: Int
    let relationships: Int
    /// Rows, those of subentities included.
    let count: String
  }

  let facts: [Fact]
  let entities: [Entity]
  let diagram: String
  /// The address of the diagram as a picture.
  let picture: String
  let hasHistory: Bool
  let canBeChecked: Bool

  init(_ browsed: BrowsedStore) async throws {
    let inspection = try await BlockingRead.run { try browsed.inspection(checks: false) }
    facts = Self.facts(browsed, inspection)
    entities = try await browsed.read { context in
      try browsed.model.entities.map { entity in
        let request = FetchRequest<ManagedObject>(entityName: entity.name)
        return Entity(
          name: entity.name, link: browsed.addresses.entity(entity.name),
          isAbstract: entity.isAbstract,
          superentity: entity.superentity,
          attributes: entity.attributes.count { !$0.name.contains(".") },
          relationships: entity.relationships.count, count: "\(try context.count(for: request))")
      }
    }
    diagram = browsed.diagram.svg(style: .ofThePage) { browsed.addresses.entity($0) }
    picture = browsed.addresses.path("/diagram.svg")
    hasHistory = inspection?.history != nil
    canBeChecked = inspection != nil
  }

  private static func facts(_ browsed: BrowsedStore, _ inspection: StoreInspection?) -> [Fact] {
    var facts = [Fact(name: "File", value: browsed.store.url.path)]
    func add(_ name: String, _ value: String) { facts.append(Fact(name: name, value: value)) }
    add("Type", browsed.store.type)
    guard let inspection else {
      let size = try? FileManager.default.attributesOfItem(atPath: browsed.store.url.path)[.size]
      if let size = size as? NSNumber { add("Size", Readable.bytes(size.intValue)) }
      return facts
    }
    let log =
      inspection.logSize > 0 ? ", and \(Readable.bytes(Int(inspection.logSize))) of log" : ""
    add("Size", Readable.bytes(Int(inspection.size)) + log)
    add("Identifier", inspection.identifier)
    let versions = inspection.versionIdentifiers.filter { !$0.isEmpty }
    if !versions.isEmpty { add("Model version", versions.joined(separator: ", ")) }
    if let version = inspection.frameworkVersion {
      add("Written by framework", "\(version)")
    }
    if let history = inspection.history {
      let span = [history.oldest, history.newest].compactMap { $0 }
        .map { Readable.moment(WireDate($0)) }
      add(
        "History",
        "\(Readable.count(history.transactions, "transaction")), "
          + Readable.count(history.changes, "change")
          + (span.isEmpty ? "" : ", \(span.joined(separator: " to "))"))
    } else {
      add("History", "not kept")
    }
    if let external = inspection.externalData {
      add(
        "Files beside it",
        "\(Readable.count(external.files, "file")), \(Readable.bytes(Int(external.size)))")
    }
    return facts
  }
}

extension BrowsedStore {
  /// What the file says of itself; nil for stores that are no SQLite file.
  func inspection(checks: Bool) throws -> StoreInspection? {
    guard store.type == "SQLite" else { return nil }
    do {
      return try StoreInspection(
        contentsOf: store.url, model: checks ? store.coordinator.managedObjectModel : nil,
        checks: checks)
    } catch let error as CoreDataError {
      throw PageError.unreadable(error.message)
    }
  }
}
