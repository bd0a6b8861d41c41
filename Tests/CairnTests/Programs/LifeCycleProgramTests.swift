// Classes that keep their own house: time stamps, identifiers, rules over several properties; objects
// made from JSON; values of a program's own class.

@_spi(Generated) import CairnStack
import CoreData
import Testing

class ProgramUser: NSManagedObject, Codable {
  var name: String? {
    get { managedValue("name") }
    set { setManagedValue(newValue, "name") }
  }
  var identifier: UUID? { managedValue("identifier") }
  var updatedAt: Date? {
    get { managedValue("updatedAt") }
    set { setManagedValue(newValue, "updatedAt") }
  }
  var minimum: NSNumber? {
    get { managedValue("minimum") }
    set { setManagedValue(newValue, "minimum") }
  }
  var maximum: NSNumber? {
    get { managedValue("maximum") }
    set { setManagedValue(newValue, "maximum") }
  }
  var log: [String] = []

  enum CodingKeys: CodingKey { case name, minimum }

  required convenience init(from decoder: any Decoder) throws {
    guard let key = CodingUserInfoKey(rawValue: "managedObjectContext"),
      let context = decoder.userInfo[key] as? NSManagedObjectContext
    else { throw CocoaError(.coderValueNotFound) }
    self.init(context: context)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    minimum = try values.decodeIfPresent(Int.self, forKey: .minimum).map { NSNumber(value: $0) }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encodeIfPresent(minimum?.intValue, forKey: .minimum)
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: "identifier")
    log.append("insert")
  }
  override func awakeFromFetch() {
    super.awakeFromFetch()
    log.append("fetch")
  }
  override func willSave() {
    super.willSave()
    log.append("willSave")
    if !isDeleted, changedValues()["updatedAt"] == nil { updatedAt = Date() }
  }
  override func didSave() {
    super.didSave()
    log.append("didSave")
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    log.append("prepareForDeletion")
  }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    log.append("willTurnIntoFault")
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    try checkRange()
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try checkRange()
  }
  private func checkRange() throws {
    guard let minimum, let maximum, minimum.intValue > maximum.intValue else { return }
    throw NSError(
      domain: "com.example.app", code: 42,
      userInfo: [NSLocalizedDescriptionKey: "The minimum is above the maximum."])
  }

  static func model() -> NSManagedObjectModel {
    let user = NSEntityDescription()
    user.name = "ProgramUser"
    user.managedObjectClassName = NSStringFromClass(ProgramUser.self)
    let name = Programs.attribute("name", .stringAttributeType, optional: false)
    name.setValidationPredicates(
      [NSPredicate(format: "length >= 3")], withValidationWarnings: ["too short"])
    user.properties = [
      name, Programs.attribute("identifier", .UUIDAttributeType, optional: false),
      Programs.attribute("updatedAt", .dateAttributeType, optional: false),
      Programs.attribute("minimum", .integer16AttributeType),
      Programs.attribute("maximum", .integer16AttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [user]
    return model
  }
}

/// Chapters 4, 10 and 11 of the specification.
@Suite struct LifeCycleProgramTests {
  @Test func hooksComeInOrderAndATimeStampOfWillSaveIsSaved() throws {
    let context = try Programs.container(ProgramUser.model()).newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let user = ProgramUser(context: context)
      #expect(user.log == ["insert"])
      #expect(user.identifier != nil)
      user.name = "Ada"
      try context.save()
      #expect(user.log == ["insert", "willSave", "willSave", "didSave"])
      let first = try #require(user.updatedAt)
      user.log = []
      user.name = "Augusta"
      #expect(user.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
      try context.save()
      #expect(user.log == ["willSave", "willSave", "didSave"])
      #expect(try #require(user.updatedAt) >= first)
      #expect(user.changedValues().isEmpty)
      user.log = []
      context.refresh(user, mergeChanges: false)
      #expect(user.log == ["willTurnIntoFault"])
      #expect(user.name == "Augusta")
      #expect(user.log == ["willTurnIntoFault", "fetch"])
      user.log = []
      context.delete(user)
      try context.save()
      #expect(user.log == ["prepareForDeletion", "willSave", "didSave"])
      #expect(user.managedObjectContext == nil)
    }
  }

  @Test func anErrorOfAProgramsOwnRuleIsThrownAsItIs() throws {
    let context = try Programs.container(ProgramUser.model()).newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let user = ProgramUser(context: context)
      user.name = "Ada"
      user.minimum = 5
      user.maximum = 3
      do {
        try context.save()
        Issue.record("the range is wrong")
      } catch let error as NSError {
        #expect(error.domain == "com.example.app" && error.code == 42)
        #expect(error.localizedDescription == "The minimum is above the maximum.")
      }
      #expect(user.isInserted, "it may be mended and saved")
      user.maximum = 9
      try context.save()
      user.minimum = 10
      #expect(throws: (any Error).self) { try context.save() }
      context.rollback()
      #expect(user.minimum == 5)
    }
  }

  @Test func severalFailuresComeAsOneErrorWithDetails() throws {
    let context = try Programs.container(ProgramUser.model()).newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let (first, second) = (ProgramUser(context: context), ProgramUser(context: context))
      first.name = "A"
      do {
        try context.save()
        Issue.record("two objects are wrong")
      } catch let error as NSError {
        #expect(error.code == NSValidationMultipleErrorsError)
        #expect((error as Error) is CocoaError)
        let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
        let codes = details.map(\.code).filter { $0 != NSValidationMultipleErrorsError }
        #expect(codes.contains(NSValidationMissingMandatoryPropertyError))
        #expect(codes.contains(NSManagedObjectValidationError))
        let objects = details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? ProgramUser }
        #expect(Set(objects) == [first, second])
        #expect(details.contains { $0.localizedDescription == "too short" })
      }
    }
  }

  @Test func objectsAreDecodedIntoAContext() throws {
    let context = try Programs.container(ProgramUser.model()).newBackgroundContext()
    let key = try #require(CodingUserInfoKey(rawValue: "managedObjectContext"))
    let json = Data(#"[{"name": "Ada", "minimum": 7}, {"name": "Bob"}]"#.utf8)
    try context.performAndWait { () throws -> Void in
      let decoder = JSONDecoder()
      decoder.userInfo[key] = context
      let users = try decoder.decode([ProgramUser].self, from: json)
      #expect(users.map(\.minimum) == [7, nil])
      try context.save()
      #expect(try context.count(for: ProgramUser.fetchRequest()) == 2)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let text = String(decoding: try encoder.encode(users), as: UTF8.self)
      #expect(text == #"[{"minimum":7,"name":"Ada"},{"name":"Bob"}]"#)
    }
    #expect(throws: CocoaError.self) { try JSONDecoder().decode([ProgramUser].self, from: json) }
  }
}

// Immutable, as the transformers of all threads see it.
final class ProgramColor: NSObject, NSSecureCoding, Sendable {
  static var supportsSecureCoding: Bool { true }
  let red: Double
  init(red: Double) { self.red = red }
  required init?(coder: NSCoder) { red = coder.decodeDouble(forKey: "red") }
  func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
}

// Unchecked, as the class it comes from: it has no state.
final class ProgramColorTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
  static let name = NSValueTransformerName(
    rawValue: String(describing: ProgramColorTransformer.self))
  override static var allowedTopLevelClasses: [AnyClass] { [ProgramColor.self] }
  static func register() {
    ValueTransformer.setValueTransformer(ProgramColorTransformer(), forName: name)
  }
}

/// Chapter 3.5 of the specification: values of a class of the program's.
@Suite struct TransformerProgramTests {
  @Test func aSecureTransformerOfAProgramsOwnClassIsRegisteredByName() throws {
    ProgramColorTransformer.register()
    let theme = NSEntityDescription()
    theme.name = "Theme"
    let color = Programs.attribute("color", .transformableAttributeType)
    color.valueTransformerName = ProgramColorTransformer.name.rawValue
    let sizes = Programs.attribute("sizes", .transformableAttributeType)
    sizes.valueTransformerName =
      NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
    theme.properties = [color, sizes]
    let model = NSManagedObjectModel()
    model.entities = [theme]
    let context = try Programs.container(model).newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Theme", into: context)
      object.setValue(ProgramColor(red: 0.25), forKey: "color")
      object.setValue([1, 2], forKey: "sizes")
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect((object.value(forKey: "color") as? ProgramColor)?.red == 0.25)
      #expect(object.value(forKey: "sizes") as? [Int] == [1, 2])
    }
  }
}
