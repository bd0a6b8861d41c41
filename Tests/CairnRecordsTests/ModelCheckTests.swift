// What a check of a model says beyond what is wrong with it.

import Cairn
import CairnModel
import CairnRecords
import Foundation
import Testing

@Suite struct ModelCheckTests {
  private func findings(_ entity: EntityDescription) -> [ModelCheck.Finding] {
    let model = ManagedObjectModel()
    model.entities = [entity]
    return ModelCheck(
      ModelVersions(model, named: "Shop", of: URL(fileURLWithPath: "/Shop.mom"))
    ).findings
  }

  @Test func aNameThatNoSQLiteStoreCanHoldIsRemarked() {
    let name = AttributeDescription(name: "full name", type: .string)
    let found = findings(EntityDescription(name: "Item", properties: [name]))
    #expect(found.map(\.code) == ["unstorableName"])
    #expect(found.first?.severity == .remark && found.first?.place == "Item.full name")
  }

  @Test func anIndexThatSQLiteStoresLeaveOutIsRemarked() {
    let name = AttributeDescription(name: "name", type: .string)
    name.isTransient = true
    let item = EntityDescription(name: "Item", properties: [name])
    item.indexes = [
      FetchIndexDescription(
        name: "byName",
        elements: [FetchIndexElementDescription(property: name, collationType: .binary)])
    ]
    #expect(findings(item).map(\.code) == ["indexNotAsModelled"])
  }
}
