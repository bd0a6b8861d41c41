import CairnPredicates
import Foundation
import Testing

// Classes as the generator's accessors make them: computed properties without names at run time.

class TranslatedOwner: NSObject {
  var values: [String: Any] = [:]
  var title: String? { values["title"] as? String }
}

class TranslatedItem: NSObject {
  var values: [String: Any] = [:]
  var name: String { values["name"] as? String ?? "" }
  var note: String? { values["note"] as? String }
  var age: Int { values["age"] as? Int ?? 0 }
  var score: Double? { values["score"] as? Double }
  var isOpen: Bool { values["isOpen"] as? Bool ?? false }
  var isHot: Bool? { values["isHot"] as? Bool }
  var due: Date? { values["due"] as? Date }
  var owner: TranslatedOwner? { values["owner"] as? TranslatedOwner }
  var parts: Set<TranslatedItem> { values["parts"] as? Set<TranslatedItem> ?? [] }
  var nameless: Int { 1 }
}

final class TranslatedSubitem: TranslatedItem {}

/// What the generator writes for a module.
private var generatedNames: [AnyKeyPath: String] {
  [
    \TranslatedOwner.title: "title", \TranslatedItem.name: "name", \TranslatedItem.note: "note",
    \TranslatedItem.age: "age", \TranslatedItem.score: "score", \TranslatedItem.isOpen: "isOpen",
    \TranslatedItem.isHot: "isHot", \TranslatedItem.due: "due", \TranslatedItem.owner: "owner",
    \TranslatedItem.parts: "parts", \TranslatedSubitem.owner: "owner",
  ]
}

/// Chapter 24.7 and II.12: Swift's predicates and sort descriptors become Cairn's.
@Suite struct SwiftPredicateTests {
  private typealias Item = TranslatedItem

  init() { PropertyNames.add(generatedNames) }

  private func text(_ predicate: Predicate<TranslatedItem>) throws -> String {
    try ObjectPredicate.translating(predicate).predicateFormat
  }

  @Test func comparisonsAndLogic() throws {
    #expect(try text(#Predicate { $0.age > 3 }) == "age > 3")
    #expect(try text(#Predicate { $0.age != 3 && $0.name == "x" }) == "age != 3 AND name == \"x\"")
    #expect(
      try text(#Predicate { $0.age <= 3 || !($0.age >= 9) }) == "age <= 3 OR NOT age >= 9")
    #expect(try text(#Predicate { $0.isOpen }) == "isOpen == 1")
    #expect(try text(#Predicate { !$0.isOpen && $0.age < 1 }) == "NOT isOpen == 1 AND age < 1")
    #expect(try text(#Predicate { _ in true }) == "TRUEPREDICATE")
  }

  @Test func arithmetic() throws {
    #expect(try text(#Predicate { $0.age + 1 > 3 * $0.age }) == "age + 1 > 3 * age")
    #expect(try text(#Predicate { $0.age % 2 == 0 }) == "modulus:by:(age, 2) == 0")
    #expect(try text(#Predicate { -$0.age < 2 }) == "0 - age < 2")
    #expect(try text(#Predicate { $0.age / 2 == 1 }) == "age / 2 == 1")
  }

  @Test func capturedValuesAreConstants() throws {
    let low = 2
    let names = ["a", "b"]
    let day = Date(timeIntervalSinceReferenceDate: 100)
    #expect(try text(#Predicate { $0.age > low }) == "age > 2")
    #expect(try text(#Predicate { names.contains($0.name) }) == "name IN {\"a\", \"b\"}")
    let predicate = try ObjectPredicate.translating(
      #Predicate<TranslatedItem> { $0.due == day })
    #expect(predicate == ObjectPredicate(format: "due == %@", day))
  }

  @Test func optionalsFollowKeyPaths() throws {
    #expect(try text(#Predicate { $0.note == nil }) == "note == nil")
    #expect(try text(#Predicate { $0.owner?.title == "t" }) == "owner.title == \"t\"")
    #expect(
      try text(#Predicate { ($0.note ?? "none") == "x" })
        == "TERNARY(note != nil, note, \"none\") == \"x\"")
    #expect(
      try text(#Predicate { $0.note?.contains("q") == true })
        == "note != nil AND note CONTAINS \"q\"")
    #expect(
      try text(#Predicate { $0.owner?.title?.starts(with: "q") ?? false })
        .contains("owner.title BEGINSWITH \"q\""))
  }

  @Test func textAndRanges() throws {
    #expect(try text(#Predicate { $0.name.contains("q") }) == "name CONTAINS \"q\"")
    #expect(try text(#Predicate { $0.name.starts(with: "q") }) == "name BEGINSWITH \"q\"")
    #expect(try text(#Predicate { $0.name.isEmpty }) == "name == \"\"")
    #expect(try text(#Predicate { $0.name.count > 2 }) == "length:(name) > 2")
    #expect(try text(#Predicate { (1...3).contains($0.age) }) == "age BETWEEN {1, 3}")
    #expect(try text(#Predicate { (1..<3).contains($0.age) }) == "age >= 1 AND age < 3")
    #expect(try text(#Predicate { ($0.age..<9).contains(4) }) == "4 >= age AND 4 < 9")
  }

  @Test func collections() throws {
    #expect(
      try text(#Predicate { $0.parts.contains { $0.age > 3 } })
        == "SUBQUERY(parts, $member1, $member1.age > 3).@count > 0")
    #expect(
      try text(#Predicate { $0.parts.allSatisfy { $0.isOpen } })
        == "SUBQUERY(parts, $member1, NOT $member1.isOpen == 1).@count == 0")
    #expect(try text(#Predicate { $0.parts.count > 1 }) == "parts.@count > 1")
    #expect(try text(#Predicate { $0.parts.isEmpty }) == "parts.@count == 0")
    #expect(
      try text(#Predicate { item in item.parts.filter { $0.age > item.age }.count == 1 })
        == "SUBQUERY(parts, $member1, $member1.age > age).@count == 1")
  }

  @Test func conditionals() throws {
    #expect(
      try text(#Predicate { ($0.age > 1 ? $0.name : "y") == "x" })
        == "TERNARY(age > 1, name, \"y\") == \"x\"")
    #expect(
      try text(#Predicate { if $0.isOpen { $0.age > 1 } else { $0.age > 2 } })
        == "(isOpen == 1 AND age > 1) OR (NOT isOpen == 1 AND age > 2)")
  }

  @Test func bothEvaluationsAgree() throws {
    let predicates: [Predicate<TranslatedItem>] = [
      #Predicate { $0.age > 2 && $0.note != nil }, #Predicate { $0.note?.contains("o") == true },
      #Predicate { ($0.score ?? 9) > 4 }, #Predicate { $0.isHot ?? false },
      #Predicate { $0.isHot == true || $0.age % 2 == 1 },
      #Predicate { $0.owner?.title == "boss" }, #Predicate { $0.owner?.title != "boss" },
      #Predicate { $0.name.isEmpty || (2...3).contains($0.age) },
      #Predicate { !($0.score == nil) && $0.score! > 1.5 },
      #Predicate { $0.isOpen == ($0.age > 2) },
      #Predicate { ($0.note?.contains("o") ?? true) == false },
      #Predicate { $0.owner?.title?.isEmpty == true },
    ]
    let owners = [nil, "boss", ""].map { title in
      let owner = TranslatedOwner()
      owner.values["title"] = title
      return owner
    }
    var items: [TranslatedItem] = []
    for index in 0..<48 {
      let item = TranslatedItem()
      item.values = ["name": index % 3 == 0 ? "" : "n", "age": index % 5, "isOpen": index % 2 == 0]
      if index % 4 > 0 { item.values["note"] = ["foo", "bar"][index % 2] }
      if index % 3 > 0 { item.values["score"] = Double(index) / 8 }
      if index % 5 > 1 { item.values["isHot"] = index % 2 == 0 }
      if index % 4 < 3 { item.values["owner"] = owners[index % 4] }
      items.append(item)
    }
    for (number, predicate) in predicates.enumerated() {
      let translated = try ObjectPredicate.translating(predicate)
      for item in items {
        let mine = try translated.test(
          item.values.mapValues { value in
            (value as? TranslatedOwner)?.values ?? value
          })
        let theirs = try predicate.evaluate(item)
        #expect(mine == theirs, "\(number) \(translated) \(item.values)")
      }
    }
  }

  @Test func whatCannotBeSaidIsRefusedWithAReason() {
    func code(_ predicate: Predicate<TranslatedItem>) -> PredicateTranslationError.Code? {
      #expect(ObjectPredicate(predicate) == nil)
      let error = #expect(throws: PredicateTranslationError.self) {
        try ObjectPredicate.translating(predicate)
      }
      return error?.code
    }
    struct Odd: Codable, Equatable, Hashable, Sendable { var x = 1 }
    let odd = Odd()
    #expect(code(#Predicate { $0.nameless == 1 }) == .unknownKeyPath)
    #expect(code(#Predicate { _ in odd == odd }) == .unsupportedConstant)
    #expect(code(#Predicate { ($0 as? TranslatedSubitem) != nil }) == .unsupportedOperation)
  }

  @Test func theInitialiserGivesTheRightClass() throws {
    let predicate = try #require(ObjectPredicate(#Predicate<TranslatedItem> { $0.age == 1 }))
    #expect(predicate is ComparisonPredicate)
  }

  // MARK: Key paths

  @Test func keyPathsHaveTheirPropertysName() {
    #expect(PropertyNames.name(of: \Item.name) == "name")
    #expect(PropertyNames.name(of: \Item.owner?.title) == "owner.title")
    #expect(PropertyNames.name(of: \Item.owner!.title) == "owner.title")
    #expect(PropertyNames.name(of: \TranslatedSubitem.owner?.title) == "owner.title")
    #expect(PropertyNames.name(of: \Item.nameless) == nil)
    #expect(ObjectExpression(forKeyPath: \Item.owner?.title).keyPath == "owner.title")
    let descriptor = ObjectSortDescriptor(keyPath: \Item.age, ascending: false)
    #expect(descriptor.key == "age")
    #expect(descriptor.keyPath == \Item.age as AnyKeyPath)
    #expect((descriptor.reversedSortDescriptor as? ObjectSortDescriptor)?.keyPath != nil)
  }

  @Test func addedNamesAreKnown() {
    struct Local {
      var stored = 1
      var computed: Int { 2 }
    }
    #expect(PropertyNames.name(of: \Local.stored) == "stored")
    PropertyNames.add([\Local.computed: "calculated"])
    #expect(PropertyNames.name(of: \Local.computed) == "calculated")
  }

  @Test func swiftSortDescriptorsBecomeKeys() {
    let byAge = ObjectSortDescriptor(SortDescriptor(\Item.age, order: .reverse))
    #expect(byAge == ObjectSortDescriptor(key: "age", ascending: false))
    let byName = ObjectSortDescriptor(SortDescriptor<Item>(\.name, comparator: .lexical))
    #expect(byName == ObjectSortDescriptor(key: "name", ascending: true))
    let byScore = ObjectSortDescriptor(SortDescriptor(\Item.score))
    #expect(byScore.key == "score")
    let unnamed = ObjectSortDescriptor(SortDescriptor(\Item.nameless))
    #expect(unnamed.hasCustomComparator)
    #expect(unnamed.compare(Item(), to: Item()) == .orderedSame)
  }
}
