/// Which names of two versions of a model mean the same thing, by names and renaming identifiers.
///
/// Neither version counts as the newer one, and each name has at most one of the other version: stores of both
/// exchange, and what goes there and back has the name that it had.
struct NameMatching: Hashable, Sendable {
  /// Names of the second version by those of the first; what one version alone has is missing.
  private(set) var pairs: [String: String] = [:]

  /// - Parameters:
  ///   - first: The renaming identifiers of one version, by name; the name itself where there is none.
  ///   - second: Those of the other.
  init(_ first: [String: String], _ second: [String: String]) {
    if first == second {
      for name in first.keys { pairs[name] = name }
      return
    }
    var taken: Set<String> = []
    for candidate in Self.candidates(first, second).sorted()
    where pairs[candidate.first] == nil && taken.insert(candidate.second).inserted {
      pairs[candidate.first] = candidate.second
    }
  }

  /// Matches paths: elements of composite attributes within what continues the attribute, so that each level has
  /// an identifier of its own.
  init(paths first: [String: String], _ second: [String: String]) {
    if first == second {
      for name in first.keys { pairs[name] = name }
      return
    }
    let (ours, theirs) = (PathHeads(first), PathHeads(second))
    for (head, other) in NameMatching(ours.identifiers, theirs.identifiers).pairs {
      switch (ours.below[head], theirs.below[other]) {
      case (nil, nil): pairs[head] = other
      case (let elements?, let others?):
        for (path, otherPath) in NameMatching(paths: elements, others).pairs {
          pairs["\(head).\(path)"] = "\(other).\(otherPath)"
        }
      // One of the two is a composite attribute, and continues nothing.
      default: break
      }
    }
  }

  /// Identifiers of paths, by the first parts of these, and those of the rest below each.
  private struct PathHeads {
    var identifiers: [String: String] = [:]
    var below: [String: [String: String]] = [:]

    init(_ paths: [String: String]) {
      for (path, identifier) in paths {
        let names = path.split(separator: ".").map(String.init)
        guard names.count > 1 else {
          identifiers[path] = identifier
          continue
        }
        var parts = identifier.split(separator: ".").map(String.init)
        // An identifier with a dot of its own does not tell whose it is.
        if parts.count != names.count { parts = names }
        identifiers[names[0]] = parts[0]
        let (rest, restIdentifier) = (names.dropFirst(), parts.dropFirst())
        below[names[0], default: [:]][rest.joined(separator: ".")] =
          restIdentifier.joined(separator: ".")
      }
    }
  }

  /// Equal identifiers say more than one that is the other's name, and that more than equal names: a name that an
  /// identifier leads away from belongs to something new.
  private enum Reason: Int {
    case identifiersAndNames, identifiers, identifierAndName, names
  }

  /// Ordered in a way that does not change when the two versions change places.
  private struct Candidate: Comparable {
    let first: String
    let second: String
    let reason: Reason

    private var rank: (Int, String, String) {
      (reason.rawValue, min(first, second), max(first, second))
    }
    static func < (a: Candidate, b: Candidate) -> Bool { a.rank < b.rank }
  }

  private static func candidates(
    _ first: [String: String], _ second: [String: String]
  ) -> [Candidate] {
    var found: [Candidate] = []
    func add(_ a: String, _ b: String, _ reason: Reason) {
      found.append(Candidate(first: a, second: b, reason: reason))
    }
    let renamed = second.filter { $0.key != $0.value }
    let byIdentifier = Dictionary(grouping: renamed.keys) { renamed[$0] ?? $0 }
    for (name, identifier) in first {
      if second[name] != nil { add(name, name, .names) }
      if name == identifier { continue }
      for other in byIdentifier[identifier] ?? [] {
        add(name, other, other == name ? .identifiersAndNames : .identifiers)
      }
      if second[identifier] != nil { add(name, identifier, .identifierAndName) }
    }
    for (name, identifier) in renamed where first[identifier] != nil {
      add(identifier, name, .identifierAndName)
    }
    return found
  }
}

/// What names of one version of a model are called in the bookkeeping of a store of another.
///
/// A name stays what it is where only one version has it, unless the other version means something else by it: then it
/// is kept as a namesake, and gets its name back on the way back.
struct NameTranslation: Hashable, Sendable {
  /// What is added to such a name; no name of a model has it.
  static let namesakeSuffix = "#namesake"

  private let names: Set<String>
  /// By old name, what has another one.
  private var renamed: [String: String] = [:]
  /// All that the old names have become.
  private var results: Set<String>

  /// Whether any name becomes another one.
  var renames: Bool { !renamed.isEmpty }

  /// - Parameters:
  ///   - names: All that the old version has.
  ///   - pairs: New names by old ones; no two have the same.
  init(_ names: Set<String>, _ pairs: [String: String]) {
    self.names = names
    results = Set(pairs.values)
    for name in names {
      let new = pairs[name] ?? (results.contains(name) ? name + Self.namesakeSuffix : name)
      if new != name { renamed[name] = new }
    }
    results.formUnion(names.map { renamed[$0] ?? $0 })
  }

  /// - Parameter name: One of the old version, or of a third one, which a store has kept.
  func callAsFunction(_ name: String) -> String {
    if renamed.isEmpty { return name }
    if let new = renamed[name] { return new }
    if names.contains(name) { return name }
    if name.hasSuffix(Self.namesakeSuffix) {
      let original = String(name.dropLast(Self.namesakeSuffix.count))
      let isFree = renamed[original] != nil && !results.contains(original)
      return isFree && !results.contains(name) ? original : name
    }
    return results.contains(name) ? name + Self.namesakeSuffix : name
  }
}
