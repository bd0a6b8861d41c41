// What sources ported by hand tell about their classes, which Objective-C's runtime finds by itself.

@_spi(Runtime) import CoreData
import Testing

private final class Gauge: NSManagedObject {
  override class var keyAccessors: [String: KeyAccessor] {
    ["doubled": .init(reading: \Gauge.doubled)]
  }
  override class var keyValidators: [String: KeyValidator] { ["level": .init(Gauge.validateLevel)] }

  var doubled: Int { (primitiveValue(forKey: "level") as? Int ?? 0) * 2 }

  func validateLevel(_ value: inout Any?) throws {
    if value as? Int == 13 { throw CocoaError(.managedObjectValidation) }
  }
}

/// The page PortingSources.
@Suite struct RuntimeHookTests {
  @Test func aClassListsItsAccessorsAndRulesWithTheRuntimesInterface() throws {
    let level = NSAttributeDescription()
    level.name = "level"
    level.attributeType = .integer64AttributeType
    let entity = NSEntityDescription()
    entity.name = "Gauge"
    entity.managedObjectClassName = "Gauge"
    entity.properties = [level]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let gauge = Gauge(entity: entity, insertInto: nil)
    gauge.setValue(4, forKey: "level")
    #expect(gauge.value(forKey: "doubled") as? Int == 8)
    var value: Any? = 13
    let error = #expect(throws: CocoaError.self) {
      try gauge.validateValue(&value, forKey: "level")
    }
    #expect(error?.code == .managedObjectValidation)
    value = 12
    try gauge.validateValue(&value, forKey: "level")
  }
}
