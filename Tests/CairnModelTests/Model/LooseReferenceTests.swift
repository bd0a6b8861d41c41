import CairnModel
import Foundation
import Testing

/// A loose reference is one that does not keep its target alive, like `weak`.
@Suite struct LooseReferenceTests {
  private final class Target: Sendable {
    let reference: LooseReference<Target>
    init(_ reference: LooseReference<Target>) { self.reference = reference }
    deinit { reference.clear() }
  }

  @Test func itEndsWithItsTarget() {
    let reference = LooseReference<Target>()
    #expect(reference.target == nil)
    do {
      let target = Target(reference)
      reference.set(target)
      #expect(reference.target === target)
    }
    #expect(reference.target == nil)
  }

  @Test func itHandsOutNoTargetThatIsBeingFreed() async {
    for _ in 0..<200 {
      let reference = LooseReference<Target>()
      var target: Target? = Target(reference)
      if let target { reference.set(target) }
      await withTaskGroup(of: Int.self) { group in
        for _ in 0..<4 {
          group.addTask {
            var seen = 0
            while let found = reference.target {
              // A freed object's reference would not be this one.
              if found.reference === reference { seen += 1 }
              if seen == 1000 { break }
            }
            return seen
          }
        }
        target = nil
        for await _ in group {}
      }
      #expect(target == nil && reference.target == nil)
    }
  }

  @Test func aPropertyAndAnIndexOutliveTheirEntity() throws {
    let property = AttributeDescription(name: "title", type: .string)
    let index = FetchIndexDescription(name: "byTitle", elements: [])
    do {
      let entity = EntityDescription(name: "Book", properties: [property])
      entity.indexes = [index]
      #expect(property.entity === entity && index.entity === entity)
    }
    #expect(property.entity == nil && index.entity == nil)
  }

  @Test func aPropertyBelongsToTheEntityItWasGivenToLast() {
    let property = AttributeDescription(name: "title", type: .string)
    let second = EntityDescription(name: "Film")
    do {
      let first = EntityDescription(name: "Book", properties: [property])
      second.properties = [property]
      #expect(first.properties.contains { $0 === property })
    }
    #expect(property.entity === second)
  }
}
