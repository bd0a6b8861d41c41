import CairnModel
import CairnPredicates
import Testing
import TestSupport

@testable import CairnSQL

/// Which tables a migration in place leaves where they are.
///
/// The model: Album ⇄ Track (ordered), Track ⇄ Tag (many-to-many), Tag with the subentity Mood, Album
/// to covers without inverse.
@Suite struct MigrationPlanTests {
  private typealias Change = (inout [String: EntityDescription]) -> Void

  private func model(_ change: Change = { _ in }) throws -> ManagedObjectModel {
    let names = ["Album", "Cover", "Mood", "Tag", "Track"]
    var entities = Dictionary(
      uniqueKeysWithValues: names.map { name in
        (
          name,
          EntityDescription(
            name: name, properties: [AttributeDescription(name: "\(name)Name", type: .string)])
        )
      })
    entities["Tag"]?.subentities = [entities["Mood"]].compactMap { $0 }
    let tracks = relationship("tracks", to: entities["Track"], isToMany: true, isOrdered: true)
    let album = relationship("album", to: entities["Album"])
    connect(tracks, album)
    let tags = relationship("tags", to: entities["Tag"], isToMany: true)
    let tagged = relationship("tagged", to: entities["Track"], isToMany: true)
    connect(tags, tagged)
    entities["Album"]?.properties += [
      tracks, relationship("covers", to: entities["Cover"], isToMany: true),
    ]
    entities["Track"]?.properties += [album, tags]
    entities["Tag"]?.properties += [tagged]
    change(&entities)
    let model = ManagedObjectModel()
    model.entities = entities.keys.sorted().compactMap { entities[$0] }
    try model.prepareForUse()
    return model
  }

  private func attribute(_ name: String) -> AttributeDescription {
    AttributeDescription(name: name, type: .string)
  }

  private func plan(
    from old: Change = { _ in }, to change: Change, catalog: SQLCatalog? = nil
  ) throws -> SQLMigrationPlan {
    let (source, destination) = (try model(old), try model(change))
    return SQLMigrationPlan(
      source: SQLSchema(model: source), destination: SQLSchema(model: destination),
      difference: ModelDifference(from: source, to: destination), catalog: catalog)
  }

  private static let join = "Z_3TAGGED"

  @Test func whatIsAddedLeavesAllTablesWhereTheyAre() throws {
    let plan = try plan { entities in
      entities["Track"]?.properties.append(attribute("lyrics"))
      entities["Zone"] = EntityDescription(name: "Zone", properties: [attribute("place")])
    }
    #expect(plan.movedTables == [])
    #expect(plan.additionStatements() == ["ALTER TABLE ZTRACK ADD COLUMN ZLYRICS VARCHAR"])
    #expect(plan.creationStatements().map { $0.prefix(18) } == ["CREATE TABLE ZZONE"])
    #expect(plan.numberStatements() == [])
    #expect(plan.rowStatements().map(\.sql) == [])
    #expect(plan.linkStatements() == [])
  }

  @Test func aRenamedAttributeMovesItsTableAlone() throws {
    let plan = try plan { entities in
      let name = entities["Track"]?.propertiesByName["TrackName"]
      name?.renamingIdentifier = "TrackName"
      name?.name = "title"
    }
    #expect(plan.movedTables == ["ZTRACK"])
    #expect(plan.rowStatements().count == 1)
    #expect(plan.linkStatements() == [])
    #expect(plan.creationStatements().count == 1)
  }

  @Test func aRemovedAttributeMovesItsTableAlone() throws {
    let plan = try plan(
      from: { $0["Cover"]?.properties.append(attribute("size")) }, to: { _ in })
    #expect(plan.movedTables == ["ZCOVER"])
  }

  @Test func aMandatoryAttributeWithDefaultMovesItsTableAlone() throws {
    let plan = try plan { entities in
      entities["Cover"]?.properties.append(
        AttributeDescription(name: "size", type: .integer64, isOptional: false, defaultValue: 1))
    }
    #expect(plan.movedTables == ["ZCOVER"])
  }

  @Test func aRemovedEntityTakesItsTableAlong() throws {
    let plan = try plan(
      from: {
        $0["Zone"] = EntityDescription(name: "Zone", properties: [attribute("place")])
      }, to: { _ in })
    #expect(plan.movedTables == ["ZZONE"])
    #expect(plan.rowStatements().isEmpty)
  }

  @Test func aRemovedSubentityMovesItsHierarchyAndTheLinksToIt() throws {
    let plan = try plan { entities in
      entities["Tag"]?.subentities = []
      entities["Mood"] = nil
    }
    // Links to what was removed go; numbers of entities behind it change in place.
    #expect(plan.movedTables.contains("ZTAG"))
    #expect(plan.movedTables.contains(Self.join))
    #expect(plan.stayingTables == ["ZALBUM", "ZCOVER", "ZTRACK"])
    #expect(
      plan.numberStatements()
        == ["UPDATE ZTRACK SET Z_ENT = CASE Z_ENT WHEN 5 THEN 4 END WHERE Z_ENT IN (5)"])
  }

  @Test func newNumbersAreWrittenWhereTheyChange() throws {
    let plan = try plan { entities in
      entities["Band"] = EntityDescription(name: "Band", properties: [attribute("place")])
    }
    // Album is 1 before and after; the table of links is named after a number.
    #expect(plan.stayingTables == ["ZALBUM", "ZCOVER", "ZTAG", "ZTRACK"])
    #expect(plan.movedTables == [Self.join])
    #expect(
      plan.numberStatements() == [
        "UPDATE ZCOVER SET Z_ENT = CASE Z_ENT WHEN 2 THEN 3 END WHERE Z_ENT IN (2)",
        "UPDATE ZTAG SET Z_ENT = CASE Z_ENT WHEN 3 THEN 4 WHEN 4 THEN 5 END "
          + "WHERE Z_ENT IN (3, 4)",
        "UPDATE ZTRACK SET Z_ENT = CASE Z_ENT WHEN 5 THEN 6 END WHERE Z_ENT IN (5)",
      ])
    #expect(plan.linkStatements().allSatisfy { $0.contains("FROM CAIRN_OLD_\(Self.join) f") })
  }

  @Test func rowsThatSayTheNumberOfAnEntityMoveWhenItChanges() throws {
    func favourite(_ entities: inout [String: EntityDescription]) {
      entities["Cover"]?.properties.append(
        relationship("favourite", to: entities["Tag"]))
    }
    func another(_ entities: inout [String: EntityDescription]) {
      let kind = EntityDescription(name: "Kind", properties: [attribute("kindName")])
      entities["Kind"] = kind
      entities["Tag"]?.subentities.append(kind)
    }
    let plan = try plan(
      from: favourite,
      to: { entities in
        favourite(&entities)
        another(&entities)
      })
    // Mood has another number, which covers say of their favourites; tags get it in place.
    #expect(plan.movedTables == ["ZCOVER", Self.join])
    #expect(plan.numberStatements().contains { $0.hasPrefix("UPDATE ZTAG SET Z_ENT") })
  }

  @Test func aHiddenKeyOfAnotherEntityIsNotTakenForItsOwn() throws {
    // Beta has the number that Alpha had, and a relationship of the same name.
    func withOwner(_ name: String) -> Change {
      { entities in
        entities["\(name)"] = EntityDescription(
          name: name,
          properties: [
            attribute("n"), relationship("items", to: entities["Track"], isToMany: true),
          ])
      }
    }
    let plan = try plan(from: withOwner("Aa"), to: withOwner("Ab"))
    #expect(plan.movedTables.contains("ZTRACK"))
    #expect(plan.stayingTables.isSuperset(of: ["ZALBUM", "ZCOVER", "ZTAG"]))
  }

  @Test func aRelationshipThatBecomesOrderedMovesTheTableOfItsLinks() throws {
    let plan = try plan { entities in
      entities["Track"]?.relationshipsByName["tags"]?.isOrdered = true
    }
    #expect(plan.movedTables == [Self.join])
    #expect(plan.rowStatements().map(\.sql) == [])
  }

  @Test func linksThatComeToATableOfTheirOwnAreReadFromRowsThatStay() throws {
    let plan = try plan { entities in
      entities["Mix"] = EntityDescription(name: "Mix", properties: [attribute("mixName")])
      // The key of the album was in the rows of the tracks.
      entities["Track"]?.relationshipsByName["album"]?.maxCount = 0
    }
    #expect(plan.movedTables.contains("ZTRACK"))
    #expect(!plan.movedTables.contains("ZALBUM"))
    #expect(plan.linkStatements().contains { $0.contains("FROM CAIRN_OLD_ZTRACK f") })
  }

  @Test func aColumnThatTheFileHasAlreadyIsNotAddedOnceMore() throws {
    let columns = ["Z_PK", "Z_ENT", "Z_OPT", "ZCOVERNAME", "zsize"]
    let plan = try plan(
      to: { $0["Cover"]?.properties.append(attribute("size")) },
      catalog: SQLCatalog(tables: ["ZCOVER": columns]))
    #expect(plan.movedTables == ["ZCOVER"])
  }

  @Test func derivedValuesAreComputedAnewInATableOfTheirOwn() throws {
    let plan = try plan { entities in
      let count = DerivedAttributeDescription()
      count.name = "trackCount"
      count.attributeType = .integer64
      count.isOptional = true
      count.derivationExpression = ObjectExpression(forKeyPath: "tracks.@count")
      entities["Album"]?.properties.append(count)
    }
    #expect(plan.movedTables == ["ZALBUM"])
    #expect(plan.derivationStatements().count == 1)
  }
}
