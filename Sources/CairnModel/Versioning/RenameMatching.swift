/// Finds which of some old names each of some new names continues, by names and renaming
/// identifiers.
///
/// A pure value over the names of one kind of element: all entities of a model, or all attributes
/// of one entity. The new version may be the older one, when a store goes back: then the renaming
/// identifiers stand on the source's side.
struct RenameMatching {
  /// A name, and the renaming identifier that was set and differs from it.
  struct Element {
    let name: String
    let identifier: String?

    init(_ name: String, identifier: String?) {
      self.name = name
      self.identifier = identifier == name ? nil : identifier
    }
  }

  /// What each name of the destination continues; new names are missing.
  private(set) var origins: [String: String] = [:]
  /// Names of the destination whose origin names and identifiers answer differently; the names
  /// were followed.
  private(set) var ambiguous: [String] = []

  private let sources: [Element]
  private let destinations: [Element]
  private let sourceNames: Set<String>
  private let destinationNames: Set<String>
  /// Sources that an identifier of the destination names.
  private var claimed: Set<String> = []

  init(from sources: [Element], to destinations: [Element]) {
    self.sources = sources.sorted { $0.name.precedesByCodePoints($1.name) }
    self.destinations = destinations.sorted { $0.name.precedesByCodePoints($1.name) }
    sourceNames = Set(sources.map(\.name))
    destinationNames = Set(destinations.map(\.name))
    // Without any identifier, equal names are all there is.
    guard
      sources.contains(where: { $0.identifier != nil })
        || destinations.contains(where: { $0.identifier != nil })
    else {
      for name in sourceNames.intersection(destinationNames) { origins[name] = name }
      return
    }
    matchIdentifiers()
    matchNames()
  }

  /// An identifier of the destination is the identifier, or the name, in the source.
  private mutating func matchIdentifiers() {
    for destination in destinations {
      guard let identifier = destination.identifier else { continue }
      let shared = sources.filter { $0.identifier == identifier }.map(\.name)
      // A source that goes on under its own name is no first choice for another.
      let origin =
        shared.first { $0 == destination.name }
        ?? shared.first { !destinationNames.contains($0) }
        ?? (sourceNames.contains(identifier) ? identifier : shared.first)
      guard let origin else { continue }
      origins[destination.name] = origin
      claimed.insert(origin)
    }
  }

  /// The rest goes by name, or back to the name that an identifier of the source gives.
  private mutating func matchNames() {
    let open = destinations.map(\.name).filter { origins[$0] == nil }
    for group in groups(of: open) {
      let byName = pairs(of: group, namesFirst: true)
      let byIdentifier = pairs(of: group, namesFirst: false)
      let namesLose = Set(byName.values).count < Set(byIdentifier.values).count
      let isTie = Set(byName.values).count == Set(byIdentifier.values).count
      if isTie {
        ambiguous += group.filter { byName[$0] != byIdentifier[$0] }
      }
      origins.merge(namesLose ? byIdentifier : byName) { first, _ in first }
    }
    ambiguous.sort { $0.precedesByCodePoints($1) }
  }

  private func pairs(of names: [String], namesFirst: Bool) -> [String: String] {
    var result: [String: String] = [:]
    func followNames() {
      let taken = namesFirst ? [] : Set(result.values)
      for name in names
      where result[name] == nil && sourceNames.contains(name) && !taken.contains(name) {
        result[name] = name
      }
    }
    func followIdentifiers() {
      var taken = claimed.union(result.values)
      for name in names where result[name] == nil {
        let former = sources.first { $0.identifier == name && !taken.contains($0.name) }
        guard let former else { continue }
        result[name] = former.name
        taken.insert(former.name)
      }
    }
    if namesFirst {
      followNames()
      followIdentifiers()
    } else {
      followIdentifiers()
      followNames()
    }
    return result
  }

  /// The names in groups that the identifiers of the source connect; each is decided by itself.
  private func groups(of names: [String]) -> [[String]] {
    var leader: [String: String] = [:]
    func find(_ name: String) -> String {
      var current = name
      while let next = leader[current] { current = next }
      return current
    }
    for source in sources {
      guard let identifier = source.identifier else { continue }
      let (first, second) = (find(source.name), find(identifier))
      if first != second { leader[first] = second }
    }
    var result: [String: [String]] = [:]
    for name in names { result[find(name), default: []].append(name) }
    return Array(result.values)
  }
}
