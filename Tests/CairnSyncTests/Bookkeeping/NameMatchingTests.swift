import CairnModel
import Testing

@testable import CairnSync

/// Which names of two versions of a model are one, and what the others are called in stores of both.
///
/// Specification: sync.md 6. Names are written `name(identifier)`.
struct NameMatchingTests {
  private func version(_ text: String) -> [String: String] {
    let pairs = text.split(separator: " ").map { word in
      let parts = word.split(separator: "(").map(String.init)
      return (parts[0], parts.count == 2 ? String(parts[1].dropLast()) : parts[0])
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  private func matching(_ first: String, _ second: String) -> String {
    NameMatching(version(first), version(second)).pairs.map { "\($0.key)=\($0.value)" }.sorted()
      .joined(separator: " ")
  }

  @Test(arguments: [
    ("title", "heading(title) title", "title=heading"),
    ("heading(title)", "heading(title) title", "heading=heading"),
    ("heading(title) title", "caption(title) title", "heading=caption title=title"),
    ("n d", "n(d) d(n)", "d=n n=d"), ("a b", "b(a) c(b)", "a=b b=c"), ("b(a)", "c(b)", "b=c"),
    ("a", "a(x)", "a=a"), ("a", "c(b)", ""), ("a b", "a b c", "a=a b=b"),
  ])
  func identifiersComeBeforeNames(first: String, second: String, expected: String) {
    #expect(matching(first, second) == expected)
  }

  /// Each level has an identifier of its own, be it that of the first version or of the one before.
  @Test(arguments: [
    ("addr.city", "addr.town(addr.city)", "addr.city=addr.town"),
    ("addr.city", "place.town(addr.city)", "addr.city=place.town"),
    ("place.town(addr.city)", "site.spot(place.city)", "place.town=site.spot"),
    ("place.town(addr.city)", "site.spot(addr.town)", "place.town=site.spot"),
    ("place.town(addr.city)", "site.spot(place.town)", "place.town=site.spot"),
    ("a.x b.x", "a.x(b.x) b.x(a.x)", "a.x=b.x b.x=a.x"), ("addr", "addr.city", ""),
  ])
  func elementsMatchWithinTheirAttribute(first: String, second: String, expected: String) {
    let pairs = NameMatching(paths: version(first), version(second)).pairs
    #expect(pairs.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ") == expected)
  }

  @Test func aRenamedElementHasItsOwnIdentifierBesideThatOfItsAttribute() throws {
    let place = CompositeAttributeDescription()
    place.name = "place"
    place.renamingIdentifier = "addr"
    let town = AttributeDescription(name: "town", type: .string)
    town.renamingIdentifier = "city"
    place.elements = [town, AttributeDescription(name: "street", type: .string)]
    let shop = EntityDescription(name: "Shop")
    shop.properties = [place]
    let model = ManagedObjectModel()
    model.entities = [shop]
    try model.prepareForUse()
    let schema = try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
    let names = schema.names.entities["Shop"]?.properties
    #expect(names == ["place.town": "addr.city", "place.street": "addr.street"])
  }

  /// All versions with up to two of three names, each with any identifier.
  private var versions: [[String: String]] {
    let names = ["a", "b", "c"]
    var found: [[String: String]] = [[:]]
    for (place, name) in names.enumerated() {
      for identifier in names {
        found.append([name: identifier])
        for other in names[(place + 1)...] {
          for second in names { found.append([name: identifier, other: second]) }
        }
      }
    }
    return found
  }

  @Test func theWayBackIsTheInverse() {
    for first in versions {
      for second in versions {
        let there = NameMatching(first, second).pairs
        let back = NameMatching(second, first).pairs
        let inverse = Dictionary(
          there.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        #expect(inverse.count == there.count && inverse == back, "\(first) \(second)")
      }
    }
  }

  /// Also what no property of the other version means: it is kept there beside what has its name.
  @Test func whatGoesThereAndBackHasItsNameAndSharesItWithNothing() {
    for first in versions {
      for second in versions {
        let there = NameTranslation(Set(first.keys), NameMatching(first, second).pairs)
        let back = NameTranslation(Set(second.keys), NameMatching(second, first).pairs)
        let names = first.keys.map { there($0) }
        #expect(Set(names).count == names.count, "\(first) \(second)")
        #expect(first.keys.allSatisfy { back(there($0)) == $0 }, "\(first) \(second)")
      }
    }
  }
}
