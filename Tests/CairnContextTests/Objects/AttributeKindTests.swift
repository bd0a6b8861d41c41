// One rule for each kind of attribute.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 3.5 and 3.7 of the specification.
@Suite struct AttributeKindTests {
  /// Saves an object made by `make` and reads it in another context.
  private func roundTrip(
    _ values: [String: Any], _ check: (ManagedObject) throws -> Void
  ) throws {
    let stack = try WorkshopStack()
    let id = try stack.use { context in
      let piece = context.make("Piece", values)
      try context.save()
      return piece.objectID
    }
    try stack.use { try check(try $0.existingObject(with: id)) }
  }

  @Test func valuesOfEachTypeComeBackAsTheyWere() throws {
    let (uuid, date) = (UUID(), Date(timeIntervalSinceReferenceDate: 1.5))
    let page = try #require(URL(string: "https://example.org/a?b=c"))
    let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try roundTrip([
      "uuid": uuid, "made": date, "page": page, "price": NSDecimalNumber(string: "12.345"),
      "photo": photo, "isSold": true,
    ]) { piece in
      #expect(piece.value(forKey: "uuid") as? UUID == uuid)
      #expect(piece.value(forKey: "made") as? Date == date)
      #expect(piece.value(forKey: "page") as? URL == page)
      #expect(piece.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12.345"))
      #expect(piece.value(forKey: "photo") as? Data == photo)
      #expect(piece.value(forKey: "isSold") as? Bool == true)
    }
  }

  @Test func anObjectWithADateOfNoNumberCanBeShown() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece", ["made": Date(timeIntervalSinceReferenceDate: .nan)])
      #expect(piece.description.contains("made = nan;"))
    }
  }

  // MARK: Composite

  @Test func aCompositeIsADictionaryOfItsElements() throws {
    try roundTrip(["size": ["height": 2.5, "unit": "m", "origin": ["x": 1.0]] as [String: Any]]) {
      let size = try #require($0.value(forKey: "size") as? [String: Any])
      #expect(size["height"] as? Double == 2.5 && size["unit"] as? String == "m")
      #expect((size["origin"] as? [String: Any])?["x"] as? Double == 1)
    }
  }

  @Test func elementsAreReachedByKeyPath() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      #expect(piece.value(forKeyPath: "size.height") as? Double == 1)
      piece.setValue(4, forKeyPath: "size.height")
      piece.setValue(["x": 2.0, "y": 3.0], forKeyPath: "size.origin")
      #expect(piece.value(forKeyPath: "size.height") as? Double == 4)
      #expect(piece.value(forKeyPath: "size.origin.y") as? Double == 3)
      try context.save()
      #expect(try context.all("Piece", "#size.origin.x == 2 AND #size.height > 3").count == 1)
    }
  }

  @Test func aChangedElementIsAChangeOfTheComposite() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      try context.save()
      piece.setValue("cm", forKeyPath: "size.unit")
      #expect(piece.changedValues().keys.sorted() == ["size"])
      let new = piece.changedValues()["size"] as? [String: Any]
      #expect(new?["unit"] as? String == "cm" && new?["height"] as? Double == 1)
      let old = piece.changedValuesForCurrentEvent()["size"] as? [String: Any]
      #expect(old?["unit"] == nil && old?["height"] as? Double == 1)
      let committed = piece.committedValues(forKeys: ["size"])["size"] as? [String: Any]
      #expect(committed?.keys.sorted() == ["height"])
    }
  }

  @Test func settingACompositeReplacesAllElements() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      piece.setValue(["unit": "m"], forKey: "size")
      #expect((piece.value(forKey: "size") as? [String: Any])?.keys.sorted() == ["unit"])
      piece.setValue(nil, forKey: "size")
      #expect(piece.value(forKey: "size") == nil)
    }
  }

  // MARK: Transformable

  @Test func aTransformableIsArchivedSecurely() throws {
    try roundTrip(["colours": ["red", "green"] as NSArray]) {
      #expect($0.value(forKey: "colours") as? [String] == ["red", "green"])
    }
  }

  @Test func aValueThatCannotBeArchivedIsReportedByTheSave() throws {
    final class Unarchivable: NSObject {}
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      piece.setValue(Unarchivable(), forKey: "colours")
      #expect(piece.value(forKey: "colours") is Unarchivable)
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .managedObjectValidation)
      #expect(error?.message.contains("NSSecureCoding") == true)
      piece.setValue(["blue"] as NSArray, forKey: "colours")
      try context.save()
    }
  }

  @Test func aTransformableTakesValuesOfTheClassThatTheModelNames() throws {
    let colours = AttributeDescription(name: "colours", type: .transformable)
    colours.attributeValueClassName = "NSArray"
    _ = try AttributeCoding.encode(["red"], for: colours)
    _ = try AttributeCoding.encode(NSMutableArray(array: ["red"]), for: colours)
    #expect(throws: AttributeCodingError.self) { try AttributeCoding.encode("red", for: colours) }
    colours.attributeValueClassName = "UIColor"
    _ = try AttributeCoding.encode("red", for: colours)
  }

  /// A program may copy it from a file: no trap.
  @Test func aTransformableOfAnotherClassIsReportedByTheSave() throws {
    let colours = AttributeDescription(name: "colours", type: .transformable)
    colours.attributeValueClassName = "NSArray"
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "Palette", properties: [colours])]
    try WorkshopStack(model: model).use { context in
      let palette = context.make("Palette")
      palette.setValue("red", forKey: "colours")
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .managedObjectValidation, "\(error?.message ?? "")")
      palette.setValue(["red"] as NSArray, forKey: "colours")
      try context.save()
    }
  }

  /// It reads as nil, which a program that copies values sets again.
  @Test func settingNilOverDataWithoutATransformerIsNoChange() throws {
    let shades = AttributeDescription(name: "shades", type: .transformable)
    shades.valueTransformerName = "AttributeKindShades"
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "Palette", properties: [shades])]
    let name = ValueTransformerName("AttributeKindShades")
    ValueTransformer.setValueTransformer(SecureUnarchiveFromDataTransformer(), forName: name)
    defer { ValueTransformer.setValueTransformer(nil, forName: name) }
    let stack = try WorkshopStack(model: model)
    let id = try stack.use { context in
      let palette = context.make("Palette", ["shades": ["red"] as NSArray])
      try context.save()
      return palette.objectID
    }

    ValueTransformer.setValueTransformer(nil, forName: name)
    try stack.use { context in
      let palette = try context.existingObject(with: id)
      #expect(palette.value(forKey: "shades") == nil)
      palette.setValue(palette.value(forKey: "shades"), forKey: "shades")
      #expect(!palette.hasPersistentChangedValues)
      palette.setPrimitiveValue(nil, forKey: "shades")
      #expect(!palette.hasPersistentChangedValues)
      try context.save()
    }

    ValueTransformer.setValueTransformer(SecureUnarchiveFromDataTransformer(), forName: name)
    try stack.use { context in
      let palette = try context.existingObject(with: id)
      #expect(palette.value(forKey: "shades") as? [String] == ["red"])
      palette.setValue(nil, forKey: "shades")
      #expect(palette.hasPersistentChangedValues)
      try context.save()
    }
    try stack.use { context in
      let shades = try context.existingObject(with: id).value(forKey: "shades")
      #expect(shades == nil)
    }
  }

  // MARK: Transient and undefined

  @Test func aValueOfUndefinedTypeIsKeptInMemoryUntilTheObjectIsAFault() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      let anything = NSObject()
      piece.setValue(anything, forKey: "scratch")
      try context.save()
      #expect(piece.value(forKey: "scratch") as? NSObject === anything)
      context.refresh(piece, mergeChanges: false)
      #expect(piece.value(forKey: "scratch") == nil)
    }
  }

  @Test func aTransientChangeAloneIsNoPersistentChange() throws {
    try WorkshopStack().use { context in
      let piece = context.make("Piece")
      try context.save()
      piece.setValue(1, forKey: "scratch")
      #expect(piece.hasChanges && !piece.hasPersistentChangedValues)
      try context.save()
      #expect(!piece.hasChanges)
    }
  }

  // MARK: Derived

  @Test func derivedValuesAreThereAfterTheSave() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker", ["name": "Ádám"])
      context.make("Piece", ["maker": worker])
      #expect(worker.value(forKey: "plainName") == nil)
      try context.save()
      #expect(worker.text("plainName") == "adam" && worker.number("pieceCount") == 1)
      worker.setValue("Éva", forKey: "name")
      try context.save()
      #expect(worker.text("plainName") == "eva")
    }
  }

  @Test func aDerivedCountFollowsMembersAfterARefresh() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      try context.save()
      context.make("Piece", ["maker": worker])
      try context.save()
      context.stalenessInterval = 0
      context.refresh(worker, mergeChanges: false)
      #expect(worker.number("pieceCount") == 1)
    }
  }

  // MARK: Fetched properties

  @Test func aFetchedPropertyFindsByItsOwner() throws {
    try WorkshopStack().use { context in
      let (a, b) = (context.make("Worker"), context.make("Worker"))
      for (title, weight, maker) in [("y", 20.0, a), ("x", 30.0, a), ("z", 5.0, a), ("w", 50.0, b)]
      {
        context.make("Piece", ["title": title, "weight": weight, "maker": maker])
      }
      try context.save()
      let heavy = a.value(forKey: "heavyPieces") as? [ManagedObject]
      #expect(heavy?.map { $0.text("title") } == ["x", "y"])
    }
  }

  @Test func aFetchedPropertyMayUseItsUserInfo() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      context.make("Piece", ["title": "hammer"])
      context.make("Piece", ["title": "axe"])
      let wanted = worker.value(forKey: "wanted") as? [ManagedObject]
      #expect(wanted?.map { $0.text("title") } == ["hammer"])
    }
  }

  @Test func aFetchedPropertyIsFetchedOnceUntilTheOwnerIsRefreshed() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      try context.save()
      #expect((worker.value(forKey: "heavyPieces") as? [ManagedObject])?.isEmpty == true)
      context.make("Piece", ["weight": 11.0, "maker": worker])
      try context.save()
      #expect((worker.value(forKey: "heavyPieces") as? [ManagedObject])?.isEmpty == true)
      context.refresh(worker, mergeChanges: false)
      #expect((worker.value(forKey: "heavyPieces") as? [ManagedObject])?.count == 1)
      #expect(!context.hasChanges, "fetched properties never count as changes")
    }
  }
}
