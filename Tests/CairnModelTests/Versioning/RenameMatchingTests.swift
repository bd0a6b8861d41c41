import Testing

@testable import CairnModel

/// Which former name a name continues, forwards and backwards.
///
/// Specification: core-data-semantics 22.3. Names are written `new(old)` where `old` is the renaming identifier.
@Suite struct RenameMatchingTests {
  private func elements(_ text: String) -> [RenameMatching.Element] {
    text.split(separator: " ").map { word in
      let parts = word.split(separator: "(")
      return RenameMatching.Element(
        String(parts[0]), identifier: parts.count == 2 ? String(parts[1].dropLast()) : nil)
    }
  }

  /// What each name continues, `new=old`, and what cannot be told, `?name`.
  private func matching(_ old: String, _ new: String) -> String {
    let found = RenameMatching(from: elements(old), to: elements(new))
    let pairs = found.origins.map { "\($0.key)=\($0.value)" }.sorted()
    return (pairs + found.ambiguous.map { "?\($0)" }).joined(separator: " ")
  }

  @Test(arguments: [
    ("a", "b(a)", "b=a"), ("b(a)", "c(b)", "c=b"), ("b(a)", "c(a)", "c=b"), ("a", "c(b)", ""),
    ("a b", "b(a)", "b=a"), ("a b", "b(a) c(b)", "b=a c=b"), ("a b", "a(b) b(a)", "a=b b=a"),
    ("b(a)", "b", "b=b"), ("b(a)", "b(a) a", "b=b"), ("a", "a b(a)", "a=a b=a"),
    ("a b(a)", "a c(a)", "a=a c=b"), ("a", "a(x)", "a=a"),
  ])
  func forwardsTheIdentifiersOfTheNewVersionLead(old: String, new: String, expected: String) {
    #expect(matching(old, new) == expected)
  }

  @Test(arguments: [
    ("b(a)", "a", "a=b"), ("c(b)", "a", ""), ("c(a)", "a", "a=c"), ("b(a) c(b)", "a b", "a=b b=c"),
    ("b(a) c(b) d(c)", "a b c", "a=b b=c c=d"), ("c(b)", "b(a)", "b=c"),
    ("b(a) c(a)", "a", "a=b"),
  ])
  func backwardsTheIdentifiersOfTheOldVersionLead(old: String, new: String, expected: String) {
    #expect(matching(old, new) == expected)
  }

  @Test func whatBothAnswersAllowIsFollowedByNameAndSaidToBeUncertain() {
    // Either `a` was renamed and another `b` removed, or `a` is new and the identifier was cleared.
    #expect(matching("b(a)", "a b") == "b=b ?a ?b")
    #expect(matching("b(a) d(c)", "a b c") == "b=b c=d ?a ?b")
    #expect(matching("a b(a)", "a") == "a=a ?a")
  }

  @Test func eachNameIsContinuedOnceOnTheWayBack() {
    #expect(matching("y(x) x(w)", "w x") == "w=x x=y")
  }
}
