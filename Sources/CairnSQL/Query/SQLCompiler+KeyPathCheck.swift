import CairnModel
import CairnPredicates
import CairnStore

// What memory will evaluate must not name what the entity does not have.

extension SQLCompiler {
  /// - Throws: ``CoreDataError`` for the first key path that leads nowhere.
  func checkKeyPaths(of node: PredicateNode) throws {
    for path in node.contents.keyPaths.sorted() { try check(path) }
  }

  func check(_ path: String) throws {
    // Operators and what follows them are the evaluator's; it may also flatten to-many steps.
    var parts: [String] = []
    for part in path.split(separator: ".") {
      if part.hasPrefix("@") { break }
      parts.append(String(part))
    }
    if parts.isEmpty { return }
    var entity = root.entity
    var rest = parts
    while !rest.isEmpty {
      let probe = SQLScope(alias: "t", entity: entity)
      if (try? resolveComposite(rest, in: entity)) == true { return }
      let target: SQLPathTarget
      do {
        target = try resolve(rest.joined(separator: "."), from: probe)
      } catch is SQLUnsupported {
        // It ends in a key of a value, which is the evaluator's too.
        return
      }
      guard case .members(let members, let remaining) = target else { return }
      entity = members.destination
      rest = remaining
    }
  }

  /// Whether the path names a whole composite attribute.
  private func resolveComposite(_ parts: [String], in entity: SQLEntity) throws -> Bool {
    let prefix = parts.joined(separator: ".") + "."
    return entity.layout.slotByName.keys.contains { $0.hasPrefix(prefix) }
  }
}
