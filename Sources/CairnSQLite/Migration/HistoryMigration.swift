import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

/// Brings history to new entity numbers and new positions of properties: the bits of `ZCOLUMNS` and
/// the tombstones' columns.
///
/// In memory is what the models say, and no row.
enum HistoryMigration {
  private static let functionName = "CairnHistoryBits"

  static func apply(_ plan: SQLMigrationPlan, _ connection: SQLiteConnection) throws {
    guard try connection.hasTable("ACHANGE") else { return }
    let numbers = plan.numbers.keys.sorted().map(String.init).joined(separator: ", ")
    try connection.execute(
      "DELETE FROM ACHANGE WHERE ZENTITY < 16000 AND ZENTITY NOT IN (\(numbers))")
    // While the old numbers still stand in the rows.
    try moveBits(plan, connection)
    // The new version may keep more of what is deleted.
    try HistoryTables.create(for: plan.destination, connection)
    for statement in try tombstones(plan, connection) { try connection.execute(statement) }
    if plan.numbers.contains(where: { $0.key != $0.value }) {
      try connection.execute(
        "UPDATE ACHANGE SET ZENTITY = \(plan.mapping(of: "ZENTITY")) WHERE ZENTITY < 16000")
    }
  }

  /// Gives each changed property the bit that it has in the new version.
  private static func moveBits(_ plan: SQLMigrationPlan, _ connection: SQLiteConnection) throws {
    var moves: [Int: BitMove] = [:]
    for change in plan.difference.entities {
      guard let source = change.source else { continue }
      let old = plan.source.entity(source)
      let new = plan.destination.entity(change.destination)
      if old.history.names != new.history.names {
        moves[old.number] = BitMove(from: old, to: new, change: change)
      }
    }
    if moves.isEmpty { return }
    let numbers = moves.keys.sorted().map(String.init).joined(separator: ", ")
    let known = moves
    let function = DatabaseFunction(functionName, argumentCount: 2, pure: true) { values in
      guard let number = Int.fromDatabaseValue(values[0]), let move = known[number],
        let bits = Data.fromDatabaseValue(values[1])
      else { return values[1] }
      return move.bits(from: bits)
    }
    connection.database.add(function: function)
    defer { connection.database.remove(function: function) }
    try connection.execute(
      "UPDATE ACHANGE SET ZCOLUMNS = \(functionName)(ZENTITY, ZCOLUMNS) "
        + "WHERE ZENTITY IN (\(numbers)) AND ZCOLUMNS IS NOT NULL")
  }

  /// Where the bits of one entity's properties go.
  private struct BitMove: Sendable {
    private let old: SQLEntity
    /// The new bit field of each old property alone.
    private let fields: [String: [UInt8]]
    private let length: Int

    init(from old: SQLEntity, to new: SQLEntity, change: ModelDifference.EntityChange) {
      self.old = old
      length = new.history.mask(slots: [], toManys: []).count
      fields = Dictionary(
        uniqueKeysWithValues: Set(old.history.names).map {
          ($0, HistoryMigration.mask(of: [$0], change: change, new: new))
        })
    }

    func bits(from data: Data) -> Data {
      var result = [UInt8](repeating: 0, count: length)
      for name in old.history.properties(in: data) {
        for (index, byte) in (fields[name] ?? []).enumerated() { result[index] |= byte }
      }
      return Data(result)
    }
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
        change.sourcePath(of: new.layout.slots[slot].name)
          .flatMap { old.layout.slotByName[$0] }
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
