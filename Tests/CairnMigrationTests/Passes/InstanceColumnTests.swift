import CairnModel
import Testing

@testable import CairnMigration

/// Columns of IDs find the places of an ID, whatever the order in which they were added.
@Suite struct InstanceColumnTests {
  private static let store = StoreIdentity(identifier: "S")
  private static let entities = [
    EntityDescription(name: "A", properties: []), EntityDescription(name: "B", properties: []),
  ]

  private func id(_ key: Int, _ entity: Int = 0) -> ManagedObjectID {
    ManagedObjectID(
      entity: Self.entities[entity], storeIdentity: Self.store, key: .row(Int64(key)))
  }

  private func column(_ ids: [ManagedObjectID]) -> InstanceColumn {
    var column = InstanceColumn()
    for id in ids {
      let isTaken = column.append(id)
      #expect(isTaken)
    }
    return column
  }

  @Test func rowsInTheOrderOfTheirKeysAreFound() {
    let column = column([id(1), id(3), id(3), id(8)])
    #expect(column.places(of: id(3)) == [1, 2])
    #expect(column.places(of: id(8)) == [3])
    #expect(column.places(of: id(2)).isEmpty)
    #expect((0..<4).map(column.isFirst) == [true, true, false, true])
  }

  @Test func rowsOfSeveralEntitiesAreToldApart() {
    let column = column([id(1), id(2, 1), id(2), id(1, 1)])
    #expect(column.places(of: id(2)) == [2])
    #expect(column.places(of: id(2, 1)) == [1])
    #expect((0..<4).map { column.id(at: $0).entity.name } == ["A", "B", "A", "B"])
  }

  @Test func whatIsNoRowIsNotTaken() {
    var column = InstanceColumn()
    let isTaken = column.append(.temporary(entity: Self.entities[0]))
    #expect(!isTaken)
    #expect(column.count == 0)
    #expect(column.places(of: id(1)).isEmpty)
  }

  @Test func anyOrderGivesWhatASearchGives() {
    for round in 1...20 {
      // In no order, most keys several times.
      let ids = (0..<400).map { id(($0 * (7919 + round)) % 149, ($0 * round / 3) % 2) }
      let column = column(ids)
      for (place, wanted) in ids.enumerated() {
        let places = ids.indices.filter { ids[$0] == wanted && ids[$0].entity === wanted.entity }
        #expect(column.places(of: wanted) == places)
        #expect(column.isFirst(place) == (places.first == place))
        #expect(column.id(at: place) == wanted)
      }
    }
  }
}
