// A program that imports CoreData and a module of other people with types of Cairn's names.

import CoreData
import Namesakes
import Testing

private final class Plant: NSManagedObject, ManagedObject {
  static var table: String { "plants" }
}

private func fails() throws { throw CoreDataError.noModel }

// What programs add to Core Data's types, and Cairn has under these names for its own users.
extension NSManagedObjectModel: Sequence {
  public func makeIterator() -> IndexingIterator<[String]> {
    entities.compactMap(\.name).makeIterator()
  }
}

extension NSEntityDescription {
  fileprivate convenience init(name: String, properties: [NSPropertyDescription] = []) {
    self.init()
    self.name = "own " + name
    self.properties = properties
  }
  fileprivate var rootEntity: String { "own root" }
  fileprivate var declaredProperties: Int { 7 }
}

extension NSAttributeDescription {
  fileprivate convenience init(
    name: String, type: NSAttributeType, isOptional: Bool = true, defaultValue: String? = nil
  ) {
    self.init()
    self.name = "own_" + name
    attributeType = type
  }
}

extension NSDeleteRule: CaseIterable {
  public static var allCases: [NSDeleteRule] { [.cascadeDeleteRule] }
}

/// Specification: core-data-semantics, Part II, and the decision page Names.
@Suite struct OwnNamesTests {
  @Test func typesOfTheProgramNeedNoQualification() {
    #expect(throws: CoreDataError.noModel) { try fails() }
    #expect(FetchedResultsController().sections == ["own"])
    #expect(PersistentContainer(label: "own").label == "own")
    #expect(FetchRequest(3).value == 3)
    #expect((Plant.self as any ManagedObject.Type).table == "plants")
  }

  @Test func foundationComesAlong() {
    #expect(URL(fileURLWithPath: "/a").path == "/a")
    #expect(Date(timeIntervalSinceReferenceDate: 1) > Date(timeIntervalSinceReferenceDate: 0))
  }

  @Test func membersThatTheProgramAddsAreItsOwn() {
    let attribute = NSAttributeDescription(name: "height", type: .doubleAttributeType)
    let entity = NSEntityDescription(name: "Plant", properties: [attribute])
    #expect(entity.name == "own Plant" && attribute.name == "own_height")
    #expect(entity.rootEntity == "own root" && entity.declaredProperties == 7)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    var names: [String] = []
    for name in model { names.append(name) }
    #expect(names == ["own Plant"])
    #expect(NSDeleteRule.allCases == [.cascadeDeleteRule])
  }
}
