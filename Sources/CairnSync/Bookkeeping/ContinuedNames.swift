import CairnModel
import Synchronization

/// What the names of one version of the model are called in another.
///
/// What was renamed more than once is followed through the versions between the two, as migrations go: those two
/// alone do not tell.
struct ContinuedNames {
  /// New entities by old ones; what nothing continues is missing.
  private(set) var entities: [String: String]
  /// By old entity, new properties by old ones.
  private(set) var properties: [String: [String: String]]

  /// - Parameter versions: Those that are known; asked for where the two alone leave something out.
  init(
    from old: SchemaNames, to new: SchemaNames, through versions: @autoclosure () -> [SchemaNames]
  ) {
    let direct = ContinuedNames(from: old, to: new)
    self = direct
    if direct.continuesAll(of: old) || direct.isAll(of: new) { return }
    let versions = versions()
    if versions.isEmpty { return }
    let way =
      Self.way(from: old, to: new, through: versions)
      ?? Self.way(from: new, to: old, through: versions)?.reversed()
    guard let way else { return }
    self = zip(way, way.dropFirst()).map { ContinuedNames(from: $0, to: $1) }
      .reduce(ContinuedNames(from: old, to: old)) { $0.followed(by: $1) }
  }

  /// By these two alone.
  private init(from old: SchemaNames, to new: SchemaNames) {
    entities =
      NameMatching(
        old.entities.mapValues(\.identifier), new.entities.mapValues(\.identifier)
      ).pairs
    properties = [:]
    for (source, name) in entities {
      guard let former = old.entities[source], let entity = new.entities[name] else { continue }
      properties[source] = NameMatching(paths: former.properties, entity.properties).pairs
    }
  }

  private func followed(by next: ContinuedNames) -> ContinuedNames {
    var all = self
    all.entities = entities.compactMapValues { next.entities[$0] }
    all.properties = [:]
    for (source, name) in entities {
      guard let following = next.properties[name] else { continue }
      all.properties[source] = properties[source]?.compactMapValues { following[$0] }
    }
    return all
  }

  /// Whether nothing of the old version is left out.
  private func continuesAll(of old: SchemaNames) -> Bool {
    old.entities.allSatisfy { $1.properties.count == properties[$0]?.count }
  }

  /// Whether nothing of the new version is added.
  private func isAll(of new: SchemaNames) -> Bool {
    entities.count == new.entities.count
      && entities.allSatisfy {
        properties[$0]?.count == new.entities[$1]?.properties.count
      }
  }

  /// The shortest way on which nothing is left out, with both ends.
  private static func way(
    from old: SchemaNames, to new: SchemaNames, through versions: [SchemaNames]
  ) -> [SchemaNames]? {
    var open = versions.filter { $0 != old && $0 != new }
    var ways = [[old]]
    while !ways.isEmpty {
      var longer: [[SchemaNames]] = []
      for way in ways {
        let here = way[way.count - 1]
        func leads(to next: SchemaNames) -> Bool {
          ContinuedNames(from: here, to: next).continuesAll(of: here)
        }
        if leads(to: new) { return way + [new] }
        open.removeAll { next in
          guard leads(to: next) else { return false }
          longer.append(way + [next])
          return true
        }
      }
      ways = longer
    }
    return nil
  }
}

/// The names of the versions of the model that are known, read when a store of another version needs them.
///
/// Mutable state: the names, inside the mutex.
final class KnownVersions: Sendable {
  private let read: @Sendable () -> [ManagedObjectModel]
  private let known = Mutex<[SchemaNames]?>(nil)

  static let none = KnownVersions { [] }

  init(_ read: @escaping @Sendable () -> [ManagedObjectModel]) { self.read = read }

  var names: [SchemaNames] {
    known.withLock { known in
      let names = known ?? SchemaNames.versions(read())
      known = names
      return names
    }
  }
}

extension SchemaNames {
  /// The names of versions of a model; one that breaks the rules of models is passed over, as no store is of it.
  static func versions(_ models: [ManagedObjectModel]) -> [SchemaNames] {
    if models.count < 2 { return [] }
    return models.compactMap { model in
      guard (try? model.prepareForUse()) != nil else { return nil }
      return try? SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:]).names
    }
  }
}
