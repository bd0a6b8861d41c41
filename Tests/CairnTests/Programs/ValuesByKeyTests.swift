// How untyped code reads and writes values: `value(forKey:)` and casts.

import CoreData
import Testing

/// Chapter 5 of the specification: the classes behind values, as casts see them.
@Suite struct ValuesByKeyTests {
  private func context() throws -> NSManagedObjectContext {
    let thing = NSEntityDescription()
    thing.name = "Thing"
    let others = NSRelationshipDescription()
    others.name = "others"
    others.destinationEntity = thing
    others.inverseRelationship = others
    let list = NSRelationshipDescription()
    list.name = "list"
    list.destinationEntity = thing
    list.isOrdered = true
    let whole = NSRelationshipDescription()
    whole.name = "whole"
    whole.destinationEntity = thing
    whole.maxCount = 1
    whole.inverseRelationship = list
    list.inverseRelationship = whole
    thing.properties = [
      Programs.attribute("name", .stringAttributeType),
      Programs.attribute("small", .integer16AttributeType),
      Programs.attribute("flag", .booleanAttributeType),
      Programs.attribute("real", .doubleAttributeType),
      Programs.attribute("price", .decimalAttributeType),
      Programs.attribute("day", .dateAttributeType),
      Programs.attribute("bytes", .binaryDataAttributeType),
      Programs.attribute("identity", .UUIDAttributeType),
      Programs.attribute("page", .URIAttributeType),
      others, list, whole,
    ]
    let model = NSManagedObjectModel()
    model.entities = [thing]
    return try Programs.container(model).newBackgroundContext()
  }

  private func thing(_ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
  }

  @Test(arguments: [false, true]) func numbersAreReadAsTheTypeThatIsAskedFor(saved: Bool) throws {
    let context = try context()
    try context.performAndWait { () throws -> Void in
      let object = thing(context)
      object.setValue(36, forKey: "small")
      object.setValue(true, forKey: "flag")
      object.setValue(1.5, forKey: "real")
      object.setValue(NSDecimalNumber(string: "12.34"), forKey: "price")
      if saved {
        try context.save()
        context.refresh(object, mergeChanges: false)
      }
      #expect(object.value(forKey: "small") as? Int == 36)
      #expect(object.value(forKey: "small") as? Int16 == 36)
      #expect((object.value(forKey: "small") as? NSNumber)?.intValue == 36)
      #expect(object.value(forKey: "flag") as? Bool == true)
      #expect((object.value(forKey: "flag") as? NSNumber)?.boolValue == true)
      #expect(object.value(forKey: "real") as? Double == 1.5)
      #expect(object.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12.34"))
      #expect(object.value(forKey: "price") as? Decimal == Decimal(string: "12.34"))
    }
  }

  @Test(arguments: [false, true]) func valuesAreBothSwiftsAndFoundations(saved: Bool) throws {
    let context = try context()
    let day = Date(timeIntervalSinceReferenceDate: 1000.25)
    let identity = UUID()
    try context.performAndWait { () throws -> Void in
      let object = thing(context)
      object.setValue("Ada" as NSString, forKey: "name")
      object.setValue(day as NSDate, forKey: "day")
      object.setValue(Data([1, 2]), forKey: "bytes")
      object.setValue(identity as NSUUID, forKey: "identity")
      object.setValue(URL(string: "https://example.org/a?b=c"), forKey: "page")
      if saved {
        try context.save()
        context.refresh(object, mergeChanges: false)
      }
      #expect(object.value(forKey: "name") as? String == "Ada")
      #expect(object.value(forKey: "name") as? NSString == "Ada")
      #expect(object.value(forKey: "day") as? Date == day)
      #expect(object.value(forKey: "day") as? NSDate == day as NSDate)
      #expect(object.value(forKey: "bytes") as? Data == Data([1, 2]))
      #expect((object.value(forKey: "bytes") as? NSData)?.length == 2)
      #expect(object.value(forKey: "identity") as? UUID == identity)
      #expect((object.value(forKey: "page") as? URL)?.query == "b=c")
      #expect((object.value(forKey: "page") as? NSURL)?.host == "example.org")
      object.setValue(nil, forKey: "name")
      #expect(object.value(forKey: "name") == nil)
    }
  }

  @Test func relationshipsCastToSetsOfBothKinds() throws {
    let context = try context()
    try context.performAndWait { () throws -> Void in
      let (one, two) = (thing(context), thing(context))
      one.setValue(NSSet(object: two), forKey: "others")
      #expect(one.value(forKey: "others") as? Set<NSManagedObject> == [two])
      #expect((one.value(forKey: "others") as? NSSet)?.contains(two) == true)
      #expect(two.value(forKey: "others") as? Set<NSManagedObject> == [one])
      one.setValue(Set([one, two]), forKey: "others")
      #expect((one.value(forKey: "others") as? NSSet)?.count == 2)
      one.mutableSetValue(forKey: "others").remove(two)
      #expect(one.mutableSetValue(forKey: "others").allObjects as? [NSManagedObject] == [one])
      one.setValue(NSOrderedSet(array: [two, one]), forKey: "list")
      #expect(
        (one.value(forKey: "list") as? NSOrderedSet)?.array as? [NSManagedObject] == [two, one])
      let copy = (one.value(forKey: "list") as? NSOrderedSet)?.mutableCopy() as? NSMutableOrderedSet
      copy?.exchangeObject(at: 0, withObjectAt: 1)
      one.setValue(copy, forKey: "list")
      #expect((one.value(forKey: "list") as? NSOrderedSet)?.firstObject as? NSManagedObject === one)
      #expect(two.value(forKeyPath: "whole.list.@count") as? Int == 2)
    }
  }

  @Test func aCopyOfAnObjectIsMadeFromItsDescriptions() throws {
    let context = try context()
    context.performAndWait {
      let (one, two) = (thing(context), thing(context))
      one.setValuesForKeys(["name": "Ada", "small": 3])
      one.mutableSetValue(forKey: "others").add(two)
      let copy = thing(context)
      for name in one.entity.attributesByName.keys {
        copy.setValue(one.value(forKey: name), forKey: name)
      }
      for (name, relationship) in one.entity.relationshipsByName
      where relationship.isToMany && !relationship.isOrdered {
        copy.setValue(one.value(forKey: name), forKey: name)
      }
      #expect(copy.dictionaryWithValues(forKeys: ["name"])["name"] as? String == "Ada")
      #expect(copy.value(forKey: "small") as? Int == 3)
      #expect((two.value(forKey: "others") as? NSSet)?.count == 2)
    }
  }
}
