import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Brings history to new entity numbers and new positions of properties: the bits of `ZCOLUMNS` and
/// the tombstones' columns.
enum HistoryMigration {
  /// New bit fields by key of the change.
  typealias Masks = [Int64: [UInt8]]

  /// Works out the new bit fields while the old numbers still stand in the rows.
  static func collect(_ plan: SQLMigrationPlan, _ connection: SQLiteConnection) throws -> Masks {
    guard try connection.hasTable("ACHANGE") else { return [:] }
    let changes = plan.difference.entities.compactMap { change in
      change.source.map { (plan.source.entity($0), change) }
    }
    var result: Masks = [:]
    let select = try connection.statement(
      "SELECT Z_PK, ZCOLUMNS FROM ACHANGE WHERE ZENTITY = ? AND ZCOLUMNS IS NOT NULL")
    defer { select.reset() }
    for (old, change) in changes {
      let new = plan.destination.entity(change.destination)
      if old.history.names == new.history.names { continue }
      select.reset()
      select.bind(Int64(old.number), at: 1)
      while try select.step() {
        let names = old.history.properties(in: select.data(1))
        result[select.integer(0)] = mask(of: names, change: change, new: new)
      }
    }
    return result
  }

  private static func mask(
    of names: Set<String>, change: ModelDifference.EntityChange, new: SQLEntity
  ) -> [UInt8] {
    let continued = Set(
      change.properties.filter { $0.source.map { names.contains($0.name) } ?? false }
        .map(\.destination.name))
    let slots = new.layout.slots.indices.filter { index in
      let name = new.layout.slots[index].name
      return continued.contains(name)
        || continued.contains(name.split(separator: ".").first.map(String.init) ?? name)
    }
    let toManys = new.layout.toManys.indices.filter {
      continued.contains(new.layout.toManys[$0].name)
    }
    return new.history.mask(slots: slots, toManys: toManys)
  }

  static func apply(
    _ masks: Masks, _ plan: SQLMigrationPlan, _ connection: SQLiteConnection
  ) throws {
    guard try connection.hasTable("ACHANGE") else { return }
    let numbers = plan.numbers.keys.sorted().map(String.init).joined(separator: ", ")
    try connection.execute(
      "DELETE FROM ACHANGE WHERE ZENTITY < 16000 AND ZENTITY NOT IN (\(numbers))")
    // The new version may keep more of what is deleted.
    try HistoryTables.create(for: plan.destination, connection)
    for statement in try tombstones(plan, connection) { try connection.execute(statement) }
    if plan.numbers.contains(where: { $0.key != $0.value }) {
      try connection.execute(
        "UPDATE ACHANGE SET ZENTITY = \(plan.mapping(of: "ZENTITY")) WHERE ZENTITY < 16000")
    }
    let update = try connection.statement("UPDATE ACHANGE SET ZCOLUMNS = ? WHERE Z_PK = ?")
    defer { update.reset() }
    for (key, mask) in masks {
      update.bind(Data(mask), at: 1)
      update.bind(key, at: 2)
      try update.run()
    }
  }

  /// Moves what deleted objects left to the columns of the new version; run before renumbering.
  private static func tombstones(
    _ plan: SQLMigrationPlan, _ connection: SQLiteConnection
  ) throws -> [String] {
    let count = try HistoryTables.columns(of: "ACHANGE", connection)
      .count { $0.hasPrefix("ZTOMBSTONE") }
    return plan.difference.entities.compactMap { change in
      guard let source = change.source else { return nil }
      let old = plan.source.entity(source)
      let new = plan.destination.entity(change.destination)
      let former = new.history.tombstoneSlots.map { slot -> Int? in
        change.source(ofProperty: new.layout.slots[slot].name)
          .flatMap { old.layout.slotByName[$0.name] }
          .flatMap { old.history.tombstoneSlots.firstIndex(of: $0) }
      }
      if former == old.history.tombstoneSlots.indices.map({ $0 }) { return nil }
      let settings = (0..<count).map { place -> String in
        let kept = place < former.count ? former[place] : nil
        return "ZTOMBSTONE\(place) = " + (kept.map { "ZTOMBSTONE\($0)" } ?? "NULL")
      }
      if settings.isEmpty { return nil }
      return "UPDATE ACHANGE SET \(settings.joined(separator: ", ")) "
        + "WHERE ZENTITY = \(old.number) AND ZCHANGETYPE = 2"
    }
  }
}
