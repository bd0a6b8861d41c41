import Foundation

/// Sections and items of a list at one moment, by identifiers, for programs that show them.
///
/// On Apple's platforms this is a class of the UI frameworks; here it stands alone. Fetched results
/// controllers fill it with section names (`String`) and object IDs. Identifiers are compared as
/// hashable values; one that is not in the snapshot is ignored, or not found. Source:
/// `NSDiffableDataSourceSnapshotReference`.
public final class DiffableDataSourceSnapshotReference: NSObject, NSCopying {
  private var sections: [AnyHashable] = []
  private var items: [AnyHashable: [AnyHashable]] = [:]
  private var reloaded: [AnyHashable] = []
  private var reconfigured: [AnyHashable] = []

  public override init() { super.init() }

  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = DiffableDataSourceSnapshotReference()
    copy.sections = sections
    copy.items = items
    copy.reloaded = reloaded
    copy.reconfigured = reconfigured
    return copy
  }

  // MARK: Reading

  public var numberOfSections: Int { sections.count }
  public var numberOfItems: Int { items.values.reduce(0) { $0 + $1.count } }
  public var sectionIdentifiers: [Any] { sections.map(\.base) }
  public var itemIdentifiers: [Any] { sections.flatMap { items[$0] ?? [] }.map(\.base) }
  /// Items that stayed where they were and changed.
  public var reloadedItemIdentifiers: [Any] { reloaded.map(\.base) }
  public var reconfiguredItemIdentifiers: [Any] { reconfigured.map(\.base) }

  public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
    Self.key(sectionIdentifier).flatMap { items[$0]?.count } ?? 0
  }

  public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
    (Self.key(sectionIdentifier).flatMap { items[$0] } ?? []).map(\.base)
  }

  /// The section of an item, nil when it is in none.
  public func sectionIdentifier(forSectionContainingItemIdentifier identifier: Any) -> Any? {
    guard let key = Self.key(identifier) else { return nil }
    return sections.first { items[$0]?.contains(key) ?? false }?.base
  }

  /// The place among all items, `NSNotFound` when it is not there.
  public func index(ofItemIdentifier identifier: Any) -> Int {
    guard let key = Self.key(identifier) else { return NSNotFound }
    return sections.flatMap { items[$0] ?? [] }.firstIndex(of: key) ?? NSNotFound
  }

  /// The place among the sections, `NSNotFound` when it is not there.
  public func index(ofSectionIdentifier identifier: Any) -> Int {
    Self.key(identifier).flatMap { sections.firstIndex(of: $0) } ?? NSNotFound
  }

  // MARK: Changing

  public func appendSections(withIdentifiers identifiers: [Any]) {
    for key in identifiers.compactMap(Self.key) where items[key] == nil {
      sections.append(key)
      items[key] = []
    }
  }

  /// Adds items at the end of the last section.
  public func appendItems(withIdentifiers identifiers: [Any]) {
    guard let last = sections.last else { return }
    append(identifiers, to: last)
  }

  public func appendItems(
    withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any
  ) {
    guard let section = Self.key(sectionIdentifier), items[section] != nil else { return }
    append(identifiers, to: section)
  }

  private func append(_ identifiers: [Any], to section: AnyHashable) {
    items[section, default: []] += identifiers.compactMap(Self.key)
  }

  public func deleteItems(withIdentifiers identifiers: [Any]) {
    let gone = Set(identifiers.compactMap(Self.key))
    for section in sections { items[section]?.removeAll { gone.contains($0) } }
  }

  public func deleteSections(withIdentifiers identifiers: [Any]) {
    let gone = Set(identifiers.compactMap(Self.key))
    sections.removeAll { gone.contains($0) }
    for section in gone { items[section] = nil }
  }

  public func deleteAllItems() {
    sections = []
    items = [:]
  }

  public func reloadItems(withIdentifiers identifiers: [Any]) {
    for key in identifiers.compactMap(Self.key) where !reloaded.contains(key) {
      reloaded.append(key)
    }
  }

  public func reconfigureItems(withIdentifiers identifiers: [Any]) {
    for key in identifiers.compactMap(Self.key) where !reconfigured.contains(key) {
      reconfigured.append(key)
    }
  }

  private static func key(_ identifier: Any) -> AnyHashable? { identifier as? AnyHashable }

  /// For fetched results: everything at once, with no check for what cannot happen there.
  func fill(_ content: [(name: String, items: [AnyHashable])], reloaded: [AnyHashable]) {
    sections = content.map { AnyHashable($0.name) }
    for (name, list) in content { items[AnyHashable(name)] = list }
    self.reloaded = reloaded
  }
}
