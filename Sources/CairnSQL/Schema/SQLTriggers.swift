import CairnModel

/// The triggers that maintain derived attributes, in Apple's words where its files show them.
///
/// Foldings of text have no trigger: their functions exist only in Cairn, and a trigger calling
/// them would keep every other program from writing. The store computes them as it saves.
enum SQLTriggers {
  static func statements(for schema: SQLSchema) -> [String] {
    schema.entities.flatMap { entity in
      entity.entity.declaredProperties.compactMap { $0 as? DerivedAttributeDescription }
        .filter { !$0.isTransient }
        .sorted { $0.name < $1.name }
        .flatMap { attribute -> [String] in
          guard let slot = entity.layout.slotByName[attribute.name],
            let column = entity.slots[slot].column,
            let derivation = SQLDerivation(attribute, of: entity, schema: schema)
          else { return [] }
          let writer = Writer(entity: entity, attribute: attribute.name, column: column)
          return writer.triggers(for: derivation)
        }
    }
  }

  private struct Writer {
    let entity: SQLEntity
    let attribute: String
    let column: String
    var table: String { entity.table }

    func triggers(for derivation: SQLDerivation) -> [String] {
      switch derivation {
      case .count(.foreignKey(let members, let key, _, _, _)):
        return count(members: members, key: key)
      case .count(.join(let members, let key, _, _, _)):
        return count(members: members, key: key)
      case .aggregate(let function, .foreignKey(_, let key, _, _, _), let members, let value):
        return aggregate(function, members: members, key: key, value: value)
      case .aggregate(_, .join(let links, let owner, let member, _, _), let members, let value):
        guard let all = derivation.value(table: table) else { return [] }
        return linkedAggregate(
          all, Links(table: links, owner: owner, member: member), members: members, value: value)
      case .folded: return []
      case .toOne(let hops, let value): return toOne(hops, value: value)
      case .copy(let source): return copy("NEW.\(source)", of: source)
      case .now: return copy("(julianday('now') - 2451910.5) * 86400.0", of: "Z_OPT")
      }
    }

    private func trigger(
      _ kind: String, _ event: String, on table: String, when: String? = nil, _ body: String...
    ) -> String {
      "CREATE TRIGGER Z_DA_\(table)_\(entity.name)_\(attribute)_\(kind) AFTER \(event) ON "
        + "\(table) FOR EACH ROW \(when.map { "WHEN (\($0)) " } ?? "")BEGIN "
        + body.map { $0 + "; " }.joined() + "END"
    }

    private func report(_ key: String, isInsert: Bool = false) -> String {
      let function =
        isInsert
        ? "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
        : "NSCoreDataDATriggerUpdatedAffectedObjectValue"
      return "SELECT \(function)('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
        + "FROM \(table) WHERE Z_PK = \(key)"
    }

    private func count(members: String, key: String) -> [String] {
      func add(_ row: String, _ change: String) -> String {
        "UPDATE \(table) SET \(column) = \(change) WHERE Z_PK = \(row).\(key)"
      }
      // A new row that is its own member is counted with the others when it is inserted.
      let isAnother = members == table ? " AND NEW.\(key) <> NEW.Z_PK" : ""
      return [
        trigger(
          "PARAMETER_INSERT", "INSERT", on: members, when: "NEW.\(key) NOT NULL\(isAnother)",
          add("NEW", "IFNULL(\(column), 0) + 1"), report("NEW.\(key)")),
        trigger(
          "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(key)", on: members,
          when: "NEW.\(key) NOT NULL", add("NEW", "\(column) + 1"), report("NEW.\(key)")),
        trigger(
          "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(key)", on: members,
          when: "OLD.\(key) NOT NULL", add("OLD", "\(column) - 1"), report("OLD.\(key)")),
        trigger(
          "PARAMETER_DELETE", "DELETE", on: members, when: "OLD.\(key) NOT NULL",
          add("OLD", "\(column) - 1"), report("OLD.\(key)")),
        trigger(
          "SOURCE_INSERT", "INSERT", on: table, when: sourceCondition,
          "UPDATE \(table) SET \(column) = (SELECT IFNULL(COUNT(\(key)), 0) FROM \(members) "
            + "WHERE \(key) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK",
          report("NEW.Z_PK", isInsert: true)),
      ]
    }

    /// Limits a trigger on the attribute's own table to rows that have the attribute.
    private var sourceCondition: String? {
      guard entity.sharesTable, entity.superNumber != 0 else { return nil }
      return "NEW.Z_ENT IN (\(entity.subtree.map(String.init).joined(separator: ", ")))"
    }

    private func aggregate(
      _ function: String, members: String, key: String, value: String
    ) -> [String] {
      func update(_ owner: String) -> String {
        "UPDATE \(table) SET \(column) = (SELECT \(function)(\(value)) FROM \(members) "
          + "WHERE \(key) = \(owner)) WHERE Z_PK = \(owner)"
      }
      return [
        trigger(
          "PARAMETER_INSERT", "INSERT", on: members, when: "NEW.\(key) NOT NULL",
          update("NEW.\(key)"), report("NEW.\(key)")),
        trigger(
          "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(key), \(value)", on: members,
          when: "NEW.\(key) NOT NULL", update("NEW.\(key)"), report("NEW.\(key)")),
        trigger(
          "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(key)", on: members,
          when: "OLD.\(key) NOT NULL", update("OLD.\(key)"), report("OLD.\(key)")),
        trigger(
          "PARAMETER_DELETE", "DELETE", on: members, when: "OLD.\(key) NOT NULL",
          update("OLD.\(key)"), report("OLD.\(key)")),
        trigger(
          "SOURCE_INSERT", "INSERT", on: table, when: sourceCondition, update("NEW.Z_PK"),
          report("NEW.Z_PK", isInsert: true)),
      ]
    }

    /// A join table, seen from the attribute's side.
    private struct Links {
      let table: String
      let owner: String
      let member: String
    }

    /// An aggregate over a many-to-many relationship, which depends on two tables.
    private func linkedAggregate(
      _ all: String, _ links: Links, members: String, value: String
    ) -> [String] {
      func update(_ owner: String) -> String {
        "UPDATE \(table) SET \(column) = \(all) WHERE Z_PK = \(owner)"
      }
      let owners = "IN (SELECT \(links.owner) FROM \(links.table) WHERE \(links.member) = NEW.Z_PK)"
      return [
        trigger(
          "PARAMETER_INSERT", "INSERT", on: links.table, update("NEW.\(links.owner)"),
          report("NEW.\(links.owner)")),
        trigger(
          "PARAMETER_DELETE", "DELETE", on: links.table, update("OLD.\(links.owner)"),
          report("OLD.\(links.owner)")),
        trigger(
          "PARAMETER_UPDATE", "UPDATE OF \(value)", on: members,
          "UPDATE \(table) SET \(column) = \(all) WHERE Z_PK \(owners)",
          "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('\(table)', Z_ENT, Z_PK, "
            + "'\(attribute)', \(column)) FROM \(table) WHERE Z_PK \(owners)"),
        trigger(
          "SOURCE_INSERT", "INSERT", on: table, when: sourceCondition, update("NEW.Z_PK"),
          report("NEW.Z_PK", isInsert: true)),
      ]
    }

    /// Pulls the value when the row or its key changes, and pushes it from each table on the way.
    ///
    /// In Core Data's files there are paths of one relationship only.
    private func toOne(_ hops: [SQLDerivation.Hop], value: String) -> [String] {
      let pulled = SQLDerivation.value(of: value, through: hops[...], from: "NEW.")
      let pull = "UPDATE \(table) SET \(column) = \(pulled) WHERE Z_PK = NEW.Z_PK"
      var triggers = [
        trigger(
          "SOURCE_INSERT", "INSERT", on: table, when: sourceCondition, pull,
          report("NEW.Z_PK", isInsert: true)),
        trigger("SOURCE_UPDATE", "UPDATE OF \(hops[0].key)", on: table, pull, report("NEW.Z_PK")),
      ]
      for index in hops.indices {
        let (here, rest) = (hops[index].table, hops[(index + 1)...])
        let owners = SQLDerivation.owners(through: hops[...index], to: "NEW.Z_PK")
        let source = rest.first?.key ?? value
        let found = SQLDerivation.value(of: value, through: rest, from: "NEW.")
        let push = "UPDATE \(table) SET \(column) = \(found) WHERE \(owners)"
        let reportOwners =
          "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('\(table)', Z_ENT, Z_PK, "
          + "'\(attribute)', \(column)) FROM \(table) WHERE \(owners)"
        // A path may come to the same table again.
        let place = index == 0 ? "" : "_\(index + 1)"
        triggers += [
          trigger("PARAMETER_INSERT\(place)", "INSERT", on: here, push, reportOwners),
          trigger("PARAMETER_UPDATE\(place)", "UPDATE OF \(source)", on: here, push, reportOwners),
        ]
      }
      return triggers
    }

    private func copy(_ expression: String, of source: String) -> [String] {
      let update = "UPDATE \(table) SET \(column) = \(expression) WHERE Z_PK = NEW.Z_PK"
      return [
        trigger(
          "SOURCE_INSERT", "INSERT", on: table, when: sourceCondition, update,
          report("NEW.Z_PK", isInsert: true)),
        trigger(
          "SOURCE_UPDATE", "UPDATE OF \(source)", on: table, when: sourceCondition, update,
          report("NEW.Z_PK")),
      ]
    }
  }
}
