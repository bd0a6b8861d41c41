import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The checker on what is made of other values: derived attributes, location indexes, and sums of
/// rows.
@Suite struct DerivedCheckTests {
  /// A shop with two items and a place, and sums of all rows.
  private func shop() throws -> StoreFixture {
    let (shop, item) = (EntityDescription(name: "Shop"), EntityDescription(name: "Item"))
    FormatModel.link(
      shop, SampleModel.toMany("items", item), item, SampleModel.toOne("shop", shop))
    let (x, y) = (FormatModel.attribute("x", .double), FormatModel.attribute("y", .double))
    shop.properties += [
      x, y, FormatModel.attribute("name", .string),
      FormatModel.derived("itemCount", .integer64, "items.@count"),
      FormatModel.derived("worth", .double, "items.price.@sum"),
      FormatModel.derived("plain", .string, "canonical:(name)"),
    ]
    item.properties += [
      FormatModel.attribute("price", .double), FormatModel.derived("place", .string, "shop.name"),
    ]
    shop.indexes = [
      FetchIndexDescription(
        name: "byPlace",
        elements: [x, y].map { FetchIndexElementDescription(property: $0, collationType: .rTree) })
    ]
    let fixture = try StoreFixture(
      options: [StoreOptionKey.rowChecksums: true], model: try FormatModel.make(shop, item))
    let row = try fixture.row(
      "Shop", ["name": .string("É"), "x": .double(52.52), "y": .double(13.4)])
    try fixture.insert(
      [row]
        + [0.1, 0.2].map {
          try fixture.row("Item", ["shop": .object(row.objectID), "price": .double($0)])
        })
    return fixture
  }

  @Test func nothingIsFoundInAStoreThatNobodyDamaged() throws {
    let fixture = try shop()
    #expect(try fixture.column("SELECT ZITEMCOUNT || ZPLAIN FROM ZSHOP") == ["2e"])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
    #expect(try fixture.store.verifyIntegrity() == [])
  }

  @Test(arguments: [
    ("UPDATE ZSHOP SET ZITEMCOUNT = 7", "Shop/p1 ZITEMCOUNT", StoreFinding.Severity.damage),
    ("UPDATE ZSHOP SET ZWORTH = 0.31", "Shop/p1 ZWORTH", .damage),
    ("UPDATE ZITEM SET ZPLACE = NULL WHERE Z_PK = 2", "Item/p2 ZPLACE", .damage),
    // No trigger keeps folded text, and others fold it in other ways.
    ("UPDATE ZSHOP SET ZPLAIN = 'x'", "Shop/p1 ZPLAIN", .remark),
    ("DELETE FROM Z_RT_Shop_byPlace", "Shop/p1 Z_RT_Shop_byPlace", .damage),
    ("UPDATE Z_RT_Shop_byPlace SET ZX_MAX = 60, ZX_MIN = 59", "Shop/p1 Z_RT_Shop_byPlace", .damage),
    ("INSERT INTO Z_RT_Shop_byPlace VALUES (9, 1, 1, 1, 1)", "Shop/p9 Z_RT_Shop_byPlace", .remark),
  ])
  func whatDoesNotFollowIsFoundWhereItIs(
    _ sql: String, _ place: String, _ severity: StoreFinding.Severity
  ) throws {
    let fixture = try shop()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    try fixture.execute(sql)
    let findings = try StoreInspection(contentsOf: fixture.url).findings
      .filter { $0.rule == .derived }
    #expect(findings.map(\.place) == [place], "\(findings)")
    #expect(findings.map(\.severity) == [severity])
  }

  @Test func withoutTheTriggersItIsOnlyRemarkedOn() throws {
    let fixture = try shop()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    for name in try fixture.column("SELECT name FROM sqlite_master WHERE type = 'trigger'") {
      try fixture.execute("DROP TRIGGER \(name)")
    }
    try fixture.execute("UPDATE ZITEM SET ZSHOP = NULL")
    let derived = try StoreInspection(contentsOf: fixture.url).findings
      .filter { $0.rule == .derived }
    #expect(derived.count == 4)
    #expect(derived.allSatisfy { $0.severity == .remark }, "\(derived)")
  }

  @Test func aRowThatIsNotAsItWasSavedIsFoundWithoutOpeningTheStore() throws {
    let fixture = try shop()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    try fixture.execute(
      "UPDATE ZITEM SET ZPRICE = 9 WHERE Z_PK = 2", "DELETE FROM ZITEM WHERE Z_PK = 1")
    let sums = try StoreInspection(contentsOf: fixture.url).damage.filter { $0.rule == .checksum }
    // The shop's worth changed with its items.
    #expect(Set(sums.map(\.place)) == ["Item/p1", "Item/p2", "Shop/p1"])
  }
}
